// What the index answers, and what it reports about itself. Hashes are Buffers in wire order, values satoshis.

import type { Observable } from 'rxjs';
import type { Held } from '../follow/held-snapshot';
import type { BlockPoint } from '../node/types/chain';

/** The place of a transaction in the chain. The coinbase has index 0. */
export interface Position {
  readonly height: number;
  readonly index: number;
}

/** An unspent output of the active chain. */
export interface Coin {
  readonly height: number;
  readonly coinbase: boolean;
  readonly value: number;
  readonly script: Buffer;
}

/** A coin and the index of its output in its transaction. */
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
  /** 0: the index has not seen the block yet, or never will, because the node pruned it before. */
  readonly transactionCount: number;
  /** Serialized size, with witness, of all blocks up to and including this one, in bytes. Blocks that are not known count 0. */
  readonly chainBytes: number;
}

/** Consecutive headers of the active chain, as columns. Their bytes never change. */
export interface HeaderRun {
  /** Height of the first header. */
  readonly height: number;
  readonly count: number;
  /** 80 bytes each. */
  readonly headers: Buffer;
  /** Hash of the last block. */
  readonly lastHash: Buffer;
  /** Hash of the block after the last one; undefined at the tip. */
  readonly nextHash: Buffer | undefined;
  /** The details of header number `i` of the run. */
  readonly detailsAt: (i: number) => HeaderDetails;
}

/** What a header does not say itself. */
export interface HeaderDetails extends Pick<HeaderRecord, 'medianTime' | 'transactionCount'> {
  /** As in a HeaderRecord: 32 bytes, big endian, a view. */
  readonly chainwork: Buffer;
}

/** The block of a confirmed transaction, and the transaction's index in it; the coinbase has index 0. */
export interface TransactionPosition {
  readonly block: BlockPoint;
  readonly index: number;
}

/** Where the bytes of a confirmed transaction are. */
export interface TransactionLocation {
  readonly block: BlockPoint;
  /** In bytes from the start of the serialized block (with witness). */
  readonly offset: number;
  readonly length: number;
  /** Length of the serialized block. */
  readonly blockLength: number;
}

/** How far the backfill is, in an index that started from the node's coins. */
export interface BackfillProgress {
  /** From this height up the positions of transactions are known. */
  readonly height: number;
  /** The height at which the backfill started. */
  readonly from: number;
}

/** What all coins add up to. */
export interface UtxoSums {
  readonly coins: number;
  /** What all of them are worth together. */
  readonly satoshis: bigint;
  /** Transactions with coins. */
  readonly transactions: number;
  /** Of the scripts of all coins. */
  readonly scriptBytes: number;
}

export interface UtxoHash extends UtxoSums {
  /** MuHash3072, as Bitcoin Core's `gettxoutsetinfo muhash` has it: 32 bytes in wire order. */
  readonly muhash: Buffer;
}

/** Whether coins with this script are wanted. The bytes are valid only during the call. */
export type IsWanted = (bytes: Uint8Array, start: number, end: number) => boolean;

/** The index at one block: everything that it answers is as of this block. */
export interface IndexSnapshot {
  readonly tip: HeaderRecord;
  /** undefined: no backfill is in progress. */
  readonly backfilling: BackfillProgress | undefined;
  /** An unspent output; undefined: it was spent, or never existed. */
  coin(txid: Buffer, index: number): Coin | undefined;
  /** The unspent outputs of the transaction at a position, in their order. `txid`: of that transaction. */
  coinsOf(txid: Buffer, position: Position): Promise<TransactionCoin[]>;
  /**
   * For the transaction at each position, those of its first 32 outputs that are unspent and have a wanted script. All are read together; a
   * promise only if that takes more than one turn. An index that started from the node's coins returns none for transactions up to its base.
   */
  firstCoinsAt(positions: readonly Position[], isWanted: IsWanted): TransactionCoin[][] | Promise<TransactionCoin[][]>;
  /** undefined: no block has it. @throws NotYetKnownError when the index cannot tell, because it started from coins. */
  location(txid: Buffer): TransactionLocation | undefined;
  /** The location of the transaction at a position up to the tip. @throws DamagedIndexError when there is none */
  locationAt(position: Position): TransactionLocation;
  /**
   * The transaction's position; takes fewer reads than its location. undefined: no block has it.
   * @throws NotYetKnownError when the index cannot tell, because it started from coins.
   */
  position(txid: Buffer): TransactionPosition | undefined;
  /** The height of a block of the chain; undefined: it is not in the chain. */
  heightOf(hash: Buffer): number | undefined;
  /** undefined above the tip, and below 0. */
  headerAt(height: number): HeaderRecord | undefined;
  /** The headers from `height` up: `count` of them, or fewer, but at least one. undefined above the tip. */
  headerRun(height: number, count: number): HeaderRun | undefined;
  /** The serialized filter (BIP158) of the block at a height; undefined: there is none, or not yet. */
  filterAt(height: number): Buffer | undefined;
  /** The filter header (BIP157) of the block at a height, in wire order; undefined: there is none, or not yet. */
  filterHeaderAt(height: number): Buffer | undefined;
  /** The filter of a block that was disconnected from the index; undefined: it had none. */
  staleFilter(hash: Buffer): Buffer | undefined;
  /**
   * A hash over the coins that a block spends (records/spent-hash.ts), by which undo records are verified; undefined: there is none.
   * The block need not be in the chain any more.
   */
  spentHash(hash: Buffer): Buffer | undefined;
  /** What all coins add up to: reads all of them. `onRecord` is called for each record; an error that it throws ends the call. */
  utxoSums(onRecord: () => void): Promise<UtxoSums>;
  /** The same with their MuHash3072, made in threads. `txidsOf`: the concatenated txids of the block at a height. */
  utxoHash(txidsOf: (height: number) => Promise<Buffer>, onRecord: () => void): Promise<UtxoHash>;
  /** Keeps the snapshot until the work is settled: for work whose result others wait for too, even when its own reader has ended. */
  during<T>(work: Promise<T>): Promise<T>;
}

export interface IndexReader {
  /**
   * Calls `use` with the current state, which stays the same until `use` has returned and its promise, if any, is settled.
   * @throws IndexUnavailableError while there is no state to read.
   */
  read<T>(use: (snapshot: IndexSnapshot) => T): T;
}

/** A reader whose snapshots may also be held beyond a call. */
export interface HoldableReader extends IndexReader {
  /** The current state until it is released. It reports damage by itself. @throws IndexUnavailableError, as later its methods do */
  hold(): Held<IndexSnapshot>;
}

/** What an empty index starts from: the node's blocks, or the coins that the node holds. */
export type BootstrapFrom = 'blocks' | 'coins';

/** How fast blocks are added. */
export interface Pace {
  readonly blocksPerSecond: number;
  /** Bytes of blocks as serialized with witness. */
  readonly bytesPerSecond: number;
  /** Coins made and coins spent. */
  readonly coinsPerSecond: number;
}

/** What the index is doing. */
export type IndexState =
  /** `work`: describes lengthy work before the first block. */
  | { readonly phase: 'loading'; readonly work?: string }
  /** The node's coins are copied: `coins` so far, `of` in all. */
  | { readonly phase: 'copying'; readonly coins: number; readonly of: number }
  | { readonly phase: 'rewinding'; readonly height: number; readonly target: number }
  | {
      readonly phase: 'indexing';
      readonly height: number;
      readonly target: number;
      readonly secondsLeft: number | undefined;
      readonly pace?: Pace;
    }
  /** The index is at the node's tip and follows it in lockstep. */
  | { readonly phase: 'live'; readonly height: number }
  | { readonly phase: 'failed'; readonly message: string }
  | { readonly phase: 'closed' };

/** How far the work beside following the chain is, each from 0 to 1; undefined: there is none to do. */
export interface BackgroundWork {
  /** Finding the positions of transactions up to the base. */
  readonly backfill: number | undefined;
  readonly filters: number | undefined;
  /** The pass that checks all files. */
  readonly scrub: number | undefined;
}

/** What the index reports about its memory and its work. */
export interface IndexFigures extends BackgroundWork {
  /** Of the block that the index is at; undefined while it is empty. */
  readonly height: number | undefined;
  readonly coins: { readonly hits: number; readonly misses: number; readonly byteLength: number };
  /** Headers in memory. */
  readonly headers: number;
  /** How many blocks can be undone without the node; undefined while the index cannot be read. */
  readonly undoable: number | undefined;
}

/** A change that has become part of the index. */
export interface IndexedBlock {
  readonly type: 'connect' | 'disconnect';
  readonly block: BlockPoint;
}

/** A block that a live index has just connected or disconnected, while the chain waits. */
export type IndexMove =
  | { readonly type: 'connect'; readonly block: BlockPoint; /** Serialized, with witness. */ readonly raw: Buffer }
  | { readonly type: 'disconnect'; readonly block: BlockPoint };

/** Something that follows the index in lockstep, as the index follows the node. */
export interface IndexFollower {
  /** Follows a move of the index. The node's chain waits until this resolves. Never rejects. */
  follow(move: IndexMove): Promise<void>;
}

export interface ChainIndex {
  readonly reader: HoldableReader;
  /** Sees a block as soon as it is in the index, also while `reader` does not show it yet. */
  readonly latest: HoldableReader;
  readonly state: IndexState;
  /** Replays the current state to a new subscriber. */
  readonly state$: Observable<IndexState>;
  /** The block that the index is at; replays the current one. */
  readonly tip$: Observable<BlockPoint>;
  /** Every block that enters or leaves the index, in order. */
  readonly blocks$: Observable<IndexedBlock>;
  /** Has the follower follow each move of the live index from now on. */
  addFollower(follower: IndexFollower): void;
}
