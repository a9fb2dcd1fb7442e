// What logs say about errors, which need not be instances of Error.

/** The message alone. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For an unexpected error: its stack, if it has one. */
export function detailsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
