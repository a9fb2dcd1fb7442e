// Coins as a node stores them. Amounts are satoshis, hashes 32-byte Buffers in wire order.

import type { BlockPoint } from './chain';

/** A coin that a block spent, as the node has it for disconnecting the block. */
export interface SpentNodeCoin {
  readonly height: number;
  readonly coinbase: boolean;
  readonly value: number;
  readonly script: Buffer;
}

/** Some of the coins that a block spends: the number of the first one, from 0, and how many. */
export interface SpentSpan {
  readonly start: number;
  readonly count: number;
}

/** A coin as the node stores it. */
export interface NodeCoin extends SpentNodeCoin {
  readonly txid: Buffer;
  readonly index: number;
}

/** The node's coins after one block, in a snapshot: they stay the same while the chain moves on. */
export interface CoinSet {
  readonly tip: BlockPoint;
  /** Number of coins, as the node has counted them block by block. */
  readonly count: number;
  /** Value of all coins, counted likewise. */
  readonly value: number;
  /** Transactions of all blocks up to and including the tip. */
  readonly transactions: number;
  /** All coins in the order of txid and index, some thousands at a time. May be called once. @throws MalformedBytesError */
  coins(): AsyncIterable<readonly NodeCoin[]>;
  /** The headers (80 bytes) from the genesis block to the tip, some at a time. May be called once. @throws ChainMovedError */
  headers(): AsyncIterable<readonly Buffer[]>;
  close(): Promise<void>;
}
