/** Where the index says what it does. bcoin's logger is one. */
export interface IndexLogger {
  error(message: string): void;
  warning(message: string): void;
  info(message: string): void;
}
