/** The node does not take a transaction; the message is its reason. */
export class TransactionRefusedError extends Error {
  override readonly name = 'TransactionRefusedError';
}

/** The chain has moved under whoever was reading it: what was read is of no use. */
export class ChainMovedError extends Error {
  override readonly name = 'ChainMovedError';
}

/** The node is of a kind that the service cannot work with. */
export class UnsupportedNodeError extends Error {
  override readonly name = 'UnsupportedNodeError';
}
