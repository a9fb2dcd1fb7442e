// What the index by script answers, and what it reports about itself. A script is identified by its SHA-256, 32 bytes, not reversed.
// Other hashes are Buffers in wire order, values satoshis.

import type { Observable } from 'rxjs';
import type { Position, IndexSnapshot } from '../index/types';
import type { BlockPoint } from '../node/types/chain';
import type { ScriptCoins } from './script-coins';

/** Outputs, or spent outputs, of a script: their number, and their total value. */
export interface Sum {
  readonly count: number;
  readonly value: number;
}

/** A transaction that has to do with a script. */
export interface RowTransaction {
  readonly position: Position;
  readonly txid: Buffer;
}

/** What a transaction changed for some scripts: what it pays to them less what it spends from them, in satoshis. */
export interface RowChange extends RowTransaction {
  readonly value: number;
}

/** Such transactions as columns: the txids are concatenated, in the order of the positions (lib/scripts/records/positions.ts). */
export interface RowTransactions {
  readonly positions: readonly number[];
  readonly txids: Buffer;
}

/** `isLast`: there are no more. */
export type WalkedPage = RowTransactions & { readonly isLast: boolean };

/** A walk through a history, from the first transaction up. Must be closed. Gives promises only for what takes more than one turn. */
export interface HistoryWalk {
  /** The next transactions, `most` at most. */
  next(most: number): WalkedPage | Promise<WalkedPage>;
  close(): void | Promise<void>;
}

/** What all transactions of a chain, or of the pool, did with a script. */
export interface ScriptTotals {
  readonly transactions: number;
  readonly funded: Sum;
  readonly spent: Sum;
}

export interface HistoryPage {
  /** Only rows above this position when ascending, and below it otherwise. */
  readonly beyond?: Position | undefined;
  /** The most rows. */
  readonly limit: number;
  /** From the first transaction up; otherwise from the newest one down. */
  readonly ascending?: boolean;
}

/** For calls that may have to read a long history. */
export interface ScanOptions {
  /** Called now and then. An error that it throws ends the call. */
  readonly goOn?: () => void;
}

export interface CoinOptions extends ScanOptions {
  readonly totals?: () => ScriptTotals | Promise<ScriptTotals>;
}

export interface FoundCoins {
  readonly coins: ScriptCoins;
  /** How many further outputs nothing spends: nobody can, or their txid is in the chain twice. */
  readonly others: number;
}

/** Outputs of one transaction that pay to one script. */
export interface FundingOutputs {
  readonly txid: Buffer;
  readonly position: Position;
  readonly indexes: readonly number[];
}

export interface WalkOptions {
  /** Called now and then with the number of rows that were read since. An error that it throws ends the call. */
  readonly walked?: (rows: number) => void;
}

/** The index by script and the main index at the same block. */
export interface ScriptSnapshot {
  readonly index: IndexSnapshot;
  /** For `hasSameRows` of later snapshots. */
  readonly stamp: number;
  /**
   * Whether the script has the same rows here as in the snapshot with that stamp; false also if that is not known. What was made from the
   * rows of one is then right for both.
   */
  hasSameRows(script: Buffer, stamp: number): boolean;
  /** A part of the history. A txid that is in the chain twice (before BIP30) appears once, at its last position. */
  history(script: Buffer, page: HistoryPage): Promise<RowTransaction[]>;
  /** The newest transactions of some scripts together, below a position, with what they changed; txids as in `history`. `scripts`: each once. */
  changes(scripts: readonly Buffer[], page: Pick<HistoryPage, 'beyond' | 'limit'> & ScanOptions): Promise<RowChange[]>;
  /** Walks through the history, or through the part above a position; txids as in `history`. */
  walk(script: Buffer, above?: Position): HistoryWalk;
  /** `beyond`: counts only rows above this position. A promise as for `HistoryWalk`. @throws HistoryTooLongError for more rows than `most`. */
  totals(script: Buffer, most: number, options?: ScanOptions & { readonly beyond?: Position }): ScriptTotals | Promise<ScriptTotals>;
  /** Whether the script has at most `most` rows; undefined if that cannot be said at once. `most`: no more than a record can have. */
  isShort(script: Buffer, most: number): boolean | undefined;
  /**
   * The script's coins in the order of the chain; a promise as for `HistoryWalk`. `totals`: returns the script's totals, called if its history
   * is long; to be given if they may be cached.
   * @throws TooManyCoinsError for more coins than `most`; HistoryTooLongError for a history with too many rows to search.
   */
  coins(script: Buffer, most: number, options?: CoinOptions): FoundCoins | Promise<FoundCoins>;
  /**
   * Candidates for the positions of the transactions that spend outputs of the script, in the order of the chain; almost always only the
   * right ones. The caller must read each transaction to check. `outputs`: their transaction, and its position.
   */
  spenders(script: Buffer, outputs: FundingOutputs, options?: WalkOptions): AsyncIterable<Position>;
  /** All txids of the block at a height up to the tip, in their order. */
  txids(height: number): Promise<Buffer[]>;
  /** undefined: no such transaction. */
  txidAt(position: Position): Buffer | undefined;
  /** Reads the newest txids, as many as are kept in memory. */
  readNewestTxids(): Promise<void>;
  /** Keeps both snapshots until the work is settled: for work whose result others wait for too, even when its own reader has ended. */
  during<T>(work: Promise<T>): Promise<T>;
}

export interface ScriptReader {
  /**
   * Calls `use` with the current state, which stays the same until `use` has returned and its promise, if any, is settled.
   * @throws ScriptsUnavailableError while there is no state
   */
  read<T>(use: (snapshot: ScriptSnapshot) => T): T;
}

/** What happened to the scripts that are watched. A script is its SHA-256, as a latin1 string. */
export type ScriptsChange =
  /** A block was connected, with these rows of watched scripts, in the order of its transactions. */
  | { readonly type: 'connect'; readonly block: BlockPoint; readonly rows: ReadonlyMap<string, readonly RowTransaction[]> }
  /** A block with rows of these scripts was disconnected. */
  | { readonly type: 'disconnect'; readonly scripts: ReadonlySet<string> }
  /** The index was opened or rebuilt: any watched script may have changed. */
  | { readonly type: 'all' };

/** The scripts that are watched, each its SHA-256 as a latin1 string. */
export interface WatchedScripts {
  /** A reader in the same turn as a change, or later, gets the state after it, or an error. */
  readonly changes$: Observable<ScriptsChange>;
  /** Adding a script again changes nothing. */
  add(script: string): void;
  delete(script: string): void;
}

/** What the index by script is doing. */
export type ScriptsState =
  | { readonly phase: 'loading' }
  /** Waits until the main index is live. */
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
