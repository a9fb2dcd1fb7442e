// What the index answers, and what it says of itself. Hashes are Buffers in wire order, values satoshis.

import type { Observable } from 'rxjs';
import type { BlockPoint } from '../node/types';
import type { Position } from './records/position';

/** An unspent output of the active chain. */
export interface Coin {
  readonly height: number;
  readonly coinbase: boolean;
  readonly value: number;
  readonly script: Buffer;
}

/** A coin beside the index that its output has in its transaction. */
export interface TransactionCoin extends Coin {
  readonly index: number;
}

/** A block of the active chain, without its transactions. */
export interface HeaderRecord extends BlockPoint {
  /** The 80 bytes of the header. */
  readonly header: Buffer;
  /** Work of the chain up to and including this block. */
  readonly chainwork: bigint;
  /** Median time past of this block and the ten before it (BIP113). */
  readonly medianTime: number;
  /** 0: the index has not seen the block yet, or never will, because the node had pruned it before. */
  readonly transactionCount: number;
  /** Serialized size, with witness, of all blocks up to and including this one, in bytes. Blocks that are not known count 0. */
  readonly chainBytes: number;
}

/** Consecutive headers of the active chain, as columns. Their bytes never change. */
export interface HeaderRun {
  /** Of the first one. */
  readonly height: number;
  readonly count: number;
  /** 80 bytes each. */
  readonly headers: Buffer;
  /** 40 bytes each, big endian: chainwork 32, median time past 4, transactions 4. */
  readonly details: Buffer;
  /** Hash of the last one. */
  readonly lastHash: Buffer;
  /** Hash of the block after the last one; undefined at the tip. */
  readonly nextHash: Buffer | undefined;
}

/** Where a confirmed transaction stands: its position in its block, the coinbase at 0. */
export interface TransactionPosition {
  readonly block: BlockPoint;
  readonly index: number;
}

/** Where a confirmed transaction lies. */
export interface TransactionLocation {
  readonly block: BlockPoint;
  /** In bytes from the start of the serialized block (with witness). */
  readonly offset: number;
  readonly length: number;
  /** Of the serialized block. */
  readonly blockLength: number;
}

/** How far the backfill has come, in an index that began with the node's coins. */
export interface BackfillProgress {
  /** From this height up the positions of transactions are known. */
  readonly height: number;
  /** The height at which the backfill began. */
  readonly from: number;
}

/** The index at one block: everything that it answers is as of this block. */
export interface IndexSnapshot {
  readonly tip: HeaderRecord;
  /** undefined: no backfill is under way. */
  readonly backfilling: BackfillProgress | undefined;
  coin(txid: Buffer, index: number): Coin | undefined;
  /** The outputs of the transaction at a position that are unspent, in their order. `txid`: of that transaction. */
  coinsOf(txid: Buffer, position: Position): Promise<TransactionCoin[]>;
  /**
   * For the transaction at each position, those of its first 32 outputs that are unspent. All are read together. An index that
   * began with the node's coins has none to tell of transactions up to its base.
   */
  firstCoinsAt(positions: readonly Position[]): Promise<TransactionCoin[][]>;
  /** undefined: no block has it. @throws NotYetKnownError when the index cannot tell, because it began with coins. */
  location(txid: Buffer): TransactionLocation | undefined;
  /** Where the transaction at a position up to the tip lies. @throws DamagedIndexError when there is none */
  locationAt(position: Position): TransactionLocation;
  /**
   * Where the transaction stands; takes fewer reads than its location. undefined: no block has it.
   * @throws NotYetKnownError when the index cannot tell, because it began with coins.
   */
  position(txid: Buffer): TransactionPosition | undefined;
  heightOf(hash: Buffer): number | undefined;
  headerAt(height: number): HeaderRecord | undefined;
  /** The headers from `height` up: `count` of them, or fewer, but at least one. undefined above the tip. */
  headerRun(height: number, count: number): HeaderRun | undefined;
  /** The serialized filter (BIP158) of the block at a height; undefined: it is not there, or not yet. */
  filterAt(height: number): Buffer | undefined;
  /** The filter header (BIP157) of the block at a height, in wire order; undefined: it is not there, or not yet. */
  filterHeaderAt(height: number): Buffer | undefined;
  /** The filter of a block that was in the index and is not any more; undefined: it had none. */
  staleFilter(hash: Buffer): Buffer | undefined;
}

export interface IndexReader {
  /**
   * Calls `use` with the current state, which stays the same until `use` has returned and its promise, if any, is settled.
   * @throws IndexUnavailableError while there is no state to read.
   */
  read<T>(use: (snapshot: IndexSnapshot) => T): T;
}

/** What an empty index begins with: the node's blocks, or the coins that it holds. */
export type BootstrapFrom = 'blocks' | 'coins';

/** How fast blocks go in. */
export interface Pace {
  readonly blocksPerSecond: number;
  /** Bytes of blocks as serialized with witness. */
  readonly bytesPerSecond: number;
  /** Coins made and coins spent. */
  readonly coinsPerSecond: number;
}

/** What the index is doing. */
export type IndexState =
  /** `work`: in words, what takes so long before the first block. */
  | { readonly phase: 'loading'; readonly work?: string }
  /** The node's coins: how many are copied, of how many. */
  | { readonly phase: 'copying'; readonly coins: number; readonly of: number }
  | { readonly phase: 'rewinding'; readonly height: number; readonly target: number }
  | {
      readonly phase: 'indexing';
      readonly height: number;
      readonly target: number;
      readonly secondsLeft: number | undefined;
      readonly pace?: Pace;
    }
  /** The index stands at the node's tip and follows it in lockstep. */
  | { readonly phase: 'live'; readonly height: number }
  | { readonly phase: 'failed'; readonly message: string }
  | { readonly phase: 'closed' };

/** A change that has become part of the index. */
export interface IndexedBlock {
  readonly type: 'connect' | 'disconnect';
  readonly block: BlockPoint;
}

/** A block that a live index has just taken in or out, while the chain waits. */
export type IndexMove =
  | { readonly type: 'connect'; readonly block: BlockPoint; /** Serialized, with witness. */ readonly raw: Buffer }
  | { readonly type: 'disconnect'; readonly block: BlockPoint };

/** Something that follows the index in lockstep, as the index follows the node. */
export interface IndexCompanion {
  /** Follows a move of the index. The node's chain waits until this resolves. Never rejects. */
  follow(move: IndexMove): Promise<void>;
}

export interface ChainIndex {
  readonly reader: IndexReader;
  readonly state: IndexState;
  /** Replays the current state to a new subscriber. */
  readonly state$: Observable<IndexState>;
  /** The block that the index stands at; replays the current one. */
  readonly tip$: Observable<BlockPoint>;
  /** Every block that enters or leaves the index, in order. */
  readonly blocks$: Observable<IndexedBlock>;
  /** Has the companion follow each move of the live index from now on. */
  accompany(companion: IndexCompanion): void;
}

/** Where the index logs what it does. bcoin's logger is one. */
export interface IndexLogger {
  error(message: string): void;
  warning(message: string): void;
  info(message: string): void;
}
