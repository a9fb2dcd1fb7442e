// Errors of the node's chain, its blocks and its pool.

import { toDisplayHex } from '../bitcoin/hash';
import { messageOf } from '../system/error-text';

/** Why a transaction is refused, in Bitcoin Core's words. `message`: the reason, and its details after a comma. */
export interface RefusalWords {
  readonly reason: string;
  readonly message: string;
}

/** The node refuses a transaction; the message is its reason. */
export class TransactionRefusedError extends Error {
  override readonly name = 'TransactionRefusedError';
  /** undefined: the reason is in bcoin's words. */
  readonly words: RefusalWords | undefined;

  constructor(reason: string, { cause, words }: { readonly cause?: unknown; readonly words?: RefusalWords } = {}) {
    super(reason, { cause });
    this.words = words;
  }
}

/** The transaction spends outputs that do not exist, or are spent. */
export class MissingOutputsError extends TransactionRefusedError {}

/** The bytes are not one transaction and nothing else. */
export class UnreadableTransactionError extends TransactionRefusedError {}

/** The node has a block, but cannot read it: its bytes are gone, torn or altered. The message names the block. */
export class UnreadableBlockError extends Error {
  override readonly name = 'UnreadableBlockError';

  constructor(hash: Buffer, cause: unknown) {
    super(`block ${toDisplayHex(hash)} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** The chain moved while it was read: the result is useless. */
export class ChainMovedError extends Error {
  override readonly name = 'ChainMovedError';
}

/** The node is of a kind that the service cannot work with. */
export class UnsupportedNodeError extends Error {
  override readonly name = 'UnsupportedNodeError';
}

/** No node answers, or none could be asked. The message is for everybody. */
export class NoNodeError extends Error {
  override readonly name = 'NoNodeError';
}
