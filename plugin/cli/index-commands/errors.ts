// Why an index command does nothing.

/** The command cannot do its work here, for reasons other than damage to the index. */
export class ImpossibleError extends Error {
  override readonly name = 'ImpossibleError';
}
