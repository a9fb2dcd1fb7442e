/** Where interfaces log errors. bcoin's logger is one. */
export interface ServerLogger {
  error(message: string): void;
  debug(message: string): void;
}
