/** Where an index logs what it does; for instance bcoin's logger. */
export interface IndexLogger {
  error(message: string): void;
  warning(message: string): void;
  info(message: string): void;
}
