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

/** The node does not have what the index by script is made from. */
export class ScriptsRefusedError extends Error {
  override readonly name = 'ScriptsRefusedError';
}
