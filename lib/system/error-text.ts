// What logs say about errors, which need not be instances of Error.

import { isOfSystem } from './system-errors';

/** The message alone, in one line: OpenSSL ends its own with a line break. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().replaceAll(/\n\s*/g, ' ');
}

/** For an unexpected error: its stack, if it has one. What the system says, such as that the disk is full, needs none. */
export function detailsOf(error: unknown): string {
  if (isOfSystem(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
