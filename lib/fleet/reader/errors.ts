// What goes wrong between a reader and the fleet.

/** What came over the log, or from a node, contradicts itself or the chain. The message says what and where. */
export class UntrueRecordError extends Error {
  override readonly name = 'UntrueRecordError';
}
