// What the index by script answers, and what it says of itself. A script is asked for by its SHA-256, 32 bytes as SHA-256 gives them.
// Other hashes are Buffers in wire order, values satoshis.

import type { Observable } from 'rxjs';
import type { Position } from '../index/records/position';
import type { Coin, IndexSnapshot } from '../index/types';
import type { BlockPoint } from '../node/types';

/** Outputs, or spent outputs, of a script: how many, and what they are worth together. */
export interface Sum {
  readonly count: number;
  readonly value: number;
}

/** What a transaction did with a script. At least one of the sums counts something. */
export interface ScriptRow {
  readonly position: Position;
  readonly txid: Buffer;
  readonly funded: Sum;
  readonly spent: Sum;
}

/** Which transaction a row is of. */
export type RowPlace = Pick<ScriptRow, 'position' | 'txid'>;

/** What all transactions of a chain, or of the pool, did with a script. */
export interface ScriptTotals {
  readonly transactions: number;
  readonly funded: Sum;
  readonly spent: Sum;
}

/** An unspent output of the script. */
export interface ScriptCoin extends Coin {
  readonly txid: Buffer;
  readonly index: number;
  /** Of the transaction that made it. */
  readonly position: Position;
}

export interface HistoryPage {
  /** Rows on the other side of this position, seen from the end at which reading begins; that position itself is left out. */
  readonly beyond?: Position | undefined;
  /** Rows at most. */
  readonly limit: number;
  /** From the first transaction up, rather than from the newest down. */
  readonly ascending?: boolean;
}

/** How a long history is gone through. */
export interface ScanOptions {
  /** Called now and then. What it throws ends the scan. */
  readonly goOn?: () => void;
}

/** The index by script and the main index at the same block. */
export interface ScriptSnapshot {
  readonly index: IndexSnapshot;
  /** Rows in the order of the chain. A txid that stands in the chain twice (before BIP30) is in it once, at its last position. */
  history(script: Buffer, page: HistoryPage): Promise<ScriptRow[]>;
  /** `beyond`: only of rows above this position. @throws HistoryTooLongError for more rows than `most`. */
  totals(script: Buffer, most: number, options?: ScanOptions & { readonly beyond?: Position }): Promise<ScriptTotals>;
  /**
   * In the order of the chain. `totals`: those of the script, for whoever may know them; asked for when its history is long.
   * @throws TooManyCoinsError for more coins than `most`; HistoryTooLongError for a history of more rows than are looked through.
   */
  coins(script: Buffer, most: number, options?: ScanOptions & { readonly totals?: () => Promise<ScriptTotals> }): Promise<ScriptCoin[]>;
  /**
   * Where a transaction may stand that spends an output of the script, in the order of the chain, the most likely ones only: almost always
   * the one that does. Whoever asks reads them, and looks. `position`: of the transaction that made the output.
   */
  spenders(
    script: Buffer,
    outpoint: { readonly txid: Buffer; readonly index: number },
    position: Position,
    options?: ScanOptions
  ): AsyncIterable<Position>;
  /** All txids of the block at a height up to the tip, in their order. */
  txids(height: number): Promise<Buffer[]>;
  /** Undefined: no such transaction. */
  txidAt(position: Position): Promise<Buffer | undefined>;
}

export interface ScriptReader {
  /**
   * The state of now, which does not change until `use` is settled.
   * @throws ScriptsUnavailableError while there is none
   */
  read<T>(use: (snapshot: ScriptSnapshot) => Promise<T>): Promise<T>;
}

/** What became of the scripts that are watched. Scripts: SHA-256, one character a byte. */
export type ScriptsChange =
  /** A block came, which has these rows of theirs, in its order. */
  | { readonly type: 'connect'; readonly block: BlockPoint; readonly rows: ReadonlyMap<string, readonly RowPlace[]> }
  /** A block went, which had rows of these scripts. */
  | { readonly type: 'disconnect'; readonly scripts: ReadonlySet<string> }
  /** The index was opened, or made anew. */
  | { readonly type: 'all' };

/** Scripts that somebody wants to hear of, each SHA-256, one character a byte. */
export interface WatchedScripts {
  /** What is read in the turn of a change, or later, is of the state after it, or nothing can be read. */
  readonly changes$: Observable<ScriptsChange>;
  /** Twice the same is once. */
  add(script: string): void;
  delete(script: string): void;
}

/** What the index by script is doing. */
export type ScriptsState =
  | { readonly phase: 'loading' }
  /** Until the main index is live. */
  | { readonly phase: 'waiting' }
  /** Rows of blocks are written to files by their scripts, up to the block at `target`. */
  | { readonly phase: 'partitioning'; readonly height: number; readonly target: number }
  /** The files are sorted and written to the store; `done` of `total` files. */
  | { readonly phase: 'sorting'; readonly done: number; readonly total: number }
  | { readonly phase: 'catching-up'; readonly height: number; readonly target: number }
  /** At the block of the main index, and following it in lockstep. */
  | { readonly phase: 'live'; readonly height: number }
  | { readonly phase: 'failed'; readonly message: string }
  | { readonly phase: 'closed' };
