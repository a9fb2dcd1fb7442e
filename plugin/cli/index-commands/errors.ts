// Why an index command does nothing.

/** The command was called wrongly. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot do its work here, for reasons other than damage to the index. */
export class ImpossibleError extends Error {
  override readonly name = 'ImpossibleError';
}
