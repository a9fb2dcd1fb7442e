// What a merchant needs of the chain.

import type { PaymentNetwork } from '../../payments/rules/request';

/** A block that a transaction is in. */
export interface ConfirmingBlock {
  readonly height: number;
  /** Wire order. */
  readonly hash: Buffer;
}

/** What the caller knows of a transaction. */
export interface TracedTransaction {
  /** Wire order. */
  readonly txid: Buffer;
  /** The outpoints that it spends: 36 bytes each, txid in wire order and index. */
  readonly outpoints: readonly Buffer[];
  /** Indexes of its outputs that the caller knows. */
  readonly outputs: readonly number[];
}

/** The standing of a transaction. */
export type Standing =
  | { readonly state: 'confirmed'; readonly block: ConfirmingBlock; readonly confirmations: number }
  /** `bytes`: serialized as the pool has it, with its witness. */
  | { readonly state: 'pool'; readonly bytes: Buffer }
  /** Neither chain nor pool has it, and it may still come: nothing in the chain contradicts it. */
  | { readonly state: 'absent' }
  /** A transaction of the pool has spent one of its coins, and none in the chain has. `by`: its txid, in wire order. */
  | { readonly state: 'replaced'; readonly by: Buffer }
  /** A transaction in the chain has spent one of its coins. */
  | { readonly state: 'conflicted' }
  /** Whether it is in the chain is not known; the reason is for people. Never to be treated as `absent`. */
  | { readonly state: 'unknown'; readonly reason: string };

export interface MerchantChain {
  readonly network: PaymentNetwork;
  /**
   * Sends transactions to the network, parents first. Those that the pool already has are announced to peers that have not
   * heard of them. Resolves when the node has accepted all.
   * @throws PaymentError `refused` with the node's reason.
   */
  broadcast(transactions: readonly Buffer[]): Promise<void>;
  /**
   * The standing of a transaction. Looked up by transaction, not by coin: the merchant may have spent the coin.
   * @param seenIn the block in which it was seen: while that block is in the chain, nothing else is looked up.
   */
  standing(transaction: TracedTransaction, seenIn?: ConfirmingBlock): Promise<Standing>;
  /**
   * A confirmed transaction as its block has it, with its witness; undefined if the chain has it no longer, or the block is not to be had.
   * @param txid in wire order.
   */
  confirmedBytes(txid: Buffer): Promise<Buffer | undefined>;
  /** The address that wallets show for a script, if there is one. Without this method pages and their links have no addresses. */
  addressOf?(script: Buffer): string | undefined;
}
