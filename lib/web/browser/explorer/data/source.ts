// What the pages ask for. Esplora's API has all of it, Bitcoin Core's REST interface a part.

import type {
  Block,
  BlockFees,
  Coin,
  Fees,
  Place,
  Pool,
  PoolPlace,
  RecentTransaction,
  Spend,
  Subject,
  SubjectStats,
  Tip,
  Transaction
} from './types';

/** Transactions in a page of a block or of a history. */
export const PAGE = 25;

export interface Source {
  tip(): Promise<Tip>;
  /** Some blocks downwards from a height, or from the tip. */
  blocks(from?: number): Promise<readonly Block[]>;
  /** @throws NotFoundError */
  block(hash: string): Promise<Block>;
  /** @throws NotFoundError */
  hashAt(height: number): Promise<string>;
  placeOf(block: Block): Promise<Place>;
  /** A page of a block's transactions from a multiple of 25 on. */
  transactionsOf(block: Block, start: number): Promise<readonly Transaction[]>;
  /** @throws NotFoundError */
  transaction(txid: string): Promise<Transaction>;
  hex(txid: string): Promise<string>;
  pool(): Promise<Pool>;
  /** What has this hash: undefined if nothing has. */
  kindOf(hash: string): Promise<'block' | 'transaction' | 'script' | undefined>;
  /** What needs the index by script; undefined: there is none. */
  readonly scripts: ScriptSource | undefined;
}

export interface ScriptSource {
  /** For each output of a transaction what spends it. */
  spends(txid: string): Promise<readonly (Spend | undefined)[]>;
  /** @throws RefusedError for an invalid address */
  stats(subject: Subject): Promise<SubjectStats>;
  /** The newest transactions of the pool and of the chain; after a txid those of the chain below it. */
  history(subject: Subject, after?: string): Promise<readonly Transaction[]>;
  /** @throws RefusedError for too many */
  coins(subject: Subject): Promise<readonly Coin[]>;
  fees(): Promise<Fees>;
  /** @throws NotFoundError */
  feesOf(block: Block): Promise<BlockFees>;
  /** Undefined for a transaction that the pool does not have. */
  placeInPool(txid: string): Promise<PoolPlace | undefined>;
  /** When a transaction entered the pool; undefined if the pool does not have it. */
  enteredAt(txid: string): Promise<number | undefined>;
  /** Some addresses that begin so. @throws BusyError until the node has the list of them, RefusedError if it keeps none */
  addressesFrom(beginning: string): Promise<readonly string[]>;
  /** The transactions that entered the pool last. */
  recent(): Promise<readonly RecentTransaction[]>;
}
