// Errors of the node's chain, its blocks and its pool.

import { toDisplayHex } from '../bitcoin/hash';

/** The node does not take a transaction; the message is its reason. */
export class TransactionRefusedError extends Error {
  override readonly name = 'TransactionRefusedError';
}

/** The transaction spends outputs that are not there. */
export class MissingOutputsError extends TransactionRefusedError {}

/** The bytes are no transaction, or more than one. */
export class UnreadableTransactionError extends TransactionRefusedError {}

/** The node has a block, but not one that can be read: its bytes are gone, torn or altered. The message names it. */
export class UnreadableBlockError extends Error {
  override readonly name = 'UnreadableBlockError';

  constructor(hash: Buffer, cause: unknown) {
    super(`block ${toDisplayHex(hash)} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** The chain moved while it was read: the result is of no use. */
export class ChainMovedError extends Error {
  override readonly name = 'ChainMovedError';
}

/** The node is of a kind that the service cannot work with. */
export class UnsupportedNodeError extends Error {
  override readonly name = 'UnsupportedNodeError';
}
