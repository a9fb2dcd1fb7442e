// Why the index by script cannot answer, or cannot be filled.

import { NoStateError } from '../index/errors';

/** There is no state to read: the index by script is not at the block of the main index, is closed or damaged, or cannot be read. */
export class ScriptsUnavailableError extends NoStateError {
  override readonly name = 'ScriptsUnavailableError';
}

/** An answer would need more transactions to be read than is allowed. */
export class HistoryTooLongError extends Error {
  override readonly name = 'HistoryTooLongError';

  /** Of a script with more than `most` transactions. */
  static beyond(most: number): HistoryTooLongError {
    return new HistoryTooLongError(`more than ${most} transactions have to do with the script`);
  }
}

/** More coins than may be in one answer. */
export class TooManyCoinsError extends Error {
  override readonly name = 'TooManyCoinsError';

  constructor(most: number) {
    super(`more than ${most} coins are the script's`);
  }
}

/** The index by script cannot be filled, because the node lacks blocks or undo data. The message says which, and what to do. */
export class MissingBlocksError extends Error {
  override readonly name = 'MissingBlocksError';
}

/** Filling the index by script had to stop, because the disk is full for example. Nothing is damaged, and it can be resumed. */
export class FillingError extends Error {
  override readonly name = 'FillingError';
}
