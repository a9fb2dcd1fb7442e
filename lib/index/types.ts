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
  /** Work of the chain up to and with this block. */
  readonly chainwork: bigint;
  /** Median time past of this block and the ten before it (BIP113). */
  readonly medianTime: number;
  /** 0: not known yet, or thrown away by the node before the index began. */
  readonly transactionCount: number;
  /** Bytes of all blocks up to and with this one, as serialized with witness; of those that are known. */
  readonly chainBytes: number;
}

/** Consecutive headers of the active chain, as columns. The bytes do not change any more. */
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

/** How far the backfill of an index has come that began with the node's coins. */
export interface BackfillProgress {
  /** From this height up the positions of transactions are known. */
  readonly height: number;
  /** The height at which the backfill began. */
  readonly from: number;
}

/** The index at one block: all its answers are of the state after this block. */
export interface IndexSnapshot {
  readonly tip: HeaderRecord;
  /** Unless it is undefined, blocks below its height are not backfilled yet. */
  readonly backfilling: BackfillProgress | undefined;
  coin(txid: Buffer, index: number): Coin | undefined;
  /** The outputs of the transaction at a position that are unspent, in their order. `txid`: of that transaction. */
  coinsOf(txid: Buffer, position: Position): Promise<TransactionCoin[]>;
  /**
   * For the transactions at positions, those of their first 32 outputs that are unspent: all are read together. Of transactions up to the block
   * that an index began at with coins it tells none.
   */
  firstCoinsAt(positions: readonly Position[]): Promise<TransactionCoin[][]>;
  /** undefined: no block has it. @throws NotYetKnownError when the index cannot tell, because it began with coins. */
  location(txid: Buffer): TransactionLocation | undefined;
  /** Where the transaction at a position up to the tip lies. @throws DamagedIndexError when there is none */
  locationAt(position: Position): TransactionLocation;
  /**
   * Where the transaction stands, for callers that have the block: less to read than its location. undefined: no block has it.
   * @throws NotYetKnownError when the index cannot tell, because it began with coins.
   */
  position(txid: Buffer): TransactionPosition | undefined;
  heightOf(hash: Buffer): number | undefined;
  headerAt(height: number): HeaderRecord | undefined;
  /** Some of the headers upwards from `height`, from 1 to `count` of them: as many as are at hand. Undefined above the tip. */
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
   * The state of now. It does not change while `read` runs, not across awaits either.
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
  /** `work`: what takes long before blocks are looked at, as a text for people. */
  | { readonly phase: 'loading'; readonly work?: string }
  /** Coins of the node that were copied so far, of all. */
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

/** Something that stands at the index' block as the index stands at the node's. */
export interface IndexCompanion {
  /** Follows a move of the index; the chain goes on afterwards. Never rejects. */
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
  /** From now on it follows each move of the live index before the chain goes on. */
  accompany(companion: IndexCompanion): void;
}

/** Where the index logs what it does. bcoin's logger is one. */
export interface IndexLogger {
  error(message: string): void;
  warning(message: string): void;
  info(message: string): void;
}
