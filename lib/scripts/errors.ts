// What keeps the index by script from answering.

/** There is no state to read: the index by script is not at the block of the main index, closed, damaged, or cannot be read. */
export class ScriptsUnavailableError extends Error {
  override readonly name = 'ScriptsUnavailableError';
}

/** More transactions than may be looked at for one answer. */
export class HistoryTooLongError extends Error {
  override readonly name = 'HistoryTooLongError';
}

/** More coins than may be in one answer. */
export class TooManyCoinsError extends Error {
  override readonly name = 'TooManyCoinsError';
}

/** The index by script cannot be filled: the node lacks what it is made of. The message says what, and what to do. */
export class MissingBlocksError extends Error {
  override readonly name = 'MissingBlocksError';
}

/** Filling the index by script has ended: the disk is full, say. Nothing is damaged, and it can go on where it was. */
export class FillingError extends Error {
  override readonly name = 'FillingError';
}
