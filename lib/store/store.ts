// The interface of stores: ordered key-value stores that know no Bitcoin. Keys are ordered as
// bytes; a missing key is `undefined`. `get` is synchronous: values are small and mostly in memory,
// where a trip through the thread pool would cost more than the read.

import type { Pages } from './pages';

/** A point-in-time view; unaffected by later writes. Must be closed. */
export interface StoreSnapshot {
  /** @throws StoreError, as all reads */
  get(key: Buffer): Buffer | undefined;
  /** The values of a few keys, which are mostly in memory, at once; undefined: that would hold up the turn. */
  soon(keys: readonly Buffer[]): readonly (Buffer | undefined)[] | undefined;
  /** As `soon`, or else as `load`. */
  few(keys: readonly Buffer[]): readonly (Buffer | undefined)[] | Promise<readonly (Buffer | undefined)[]>;
  /** As `Store.load`. Closing the snapshot waits for calls in progress. */
  load(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>;
  /** Reads off the event loop. Closing the snapshot waits for calls in progress. */
  range(range: StoreRange): AsyncIterable<StoreEntry>;
  /** As `range`, many entries at a time. */
  pages(range: StoreRange): AsyncIterable<readonly StoreEntry[]>;
  /** The first entries of a range, `most` at most, with one trip off the event loop: for ranges that have few. */
  head(range: Omit<StoreRange, 'limit'>, most: number): Promise<RangeHead>;
  close(): void;
}

export type StoreEntry = readonly [key: Buffer, value: Buffer];

export interface RangeHead {
  readonly entries: readonly StoreEntry[];
  /** These are all entries of the range. If not, there may be more. */
  readonly isWhole: boolean;
}

export interface KeyRange {
  readonly gte: Buffer;
  readonly lt: Buffer;
}

export interface StoreRange extends KeyRange {
  readonly reverse?: boolean;
  readonly limit?: number;
}

export interface StorePut {
  readonly type: 'put';
  readonly key: Buffer;
  readonly value: Buffer;
}

export type StoreWrite = StorePut | { readonly type: 'del'; readonly key: Buffer };

/** How far a store is with the check of its files before it opens, in bytes. */
export interface OpeningProgress {
  readonly done: number;
  readonly total: number;
}

/** Bytes that `scrub` has just read and found right, and the bytes of all present tables. */
export interface ScrubbedPart {
  readonly count: number;
  readonly total: number;
}

/** How the store will be used: for batch after batch, or for a block now and then between reads. */
export type StoreUse = 'catching-up' | 'following';

export interface BatchOptions {
  /** Whether the writes are on the disk itself (fsync) when the promise resolves. */
  readonly durable: boolean;
  /** Called when the store has copied all writes, before it writes them. */
  readonly onTaken?: (() => void) | undefined;
}

export interface Store {
  /** Are part of the store: `clear` removes them, and `scrub` checks them. */
  readonly pages: Pages;
  /**
   * Checks all files first, which at best takes a second for some gigabytes.
   * @throws StoreError when the folder cannot be opened, is in use or damaged, and when the store is closed meanwhile.
   */
  open(onProgress?: (progress: OpeningProgress) => void): Promise<void>;
  /** @throws StoreError, as all reads; its reason is `closed` while the store is not open */
  get(key: Buffer): Buffer | undefined;
  /** The values in the order of the keys, off the event loop: for thousands of cold keys. */
  load(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>;
  /** In the order of the keys, or against it, off the event loop. */
  range(range: StoreRange): AsyncIterable<StoreEntry>;
  /** @throws StoreError, as reads */
  snapshot(): StoreSnapshot;
  /**
   * Writes all or nothing. The writes are asked for one by one, with turns of the event loop in between. Each is copied
   * before the next one is asked for.
   */
  batch(writes: Iterable<StoreWrite>, options: BatchOptions): Promise<void>;
  /**
   * Prepares the store for a use, and for the size that it has reached; `open` prepares it for `following`. If that changes
   * anything, all snapshots are closed, and reads fail meanwhile like those of a closed store.
   */
  prepareFor(use: StoreUse): Promise<void>;
  /**
   * Checks the files of the open store in one pass, which advances by about a megabyte when the next part is asked for. Ends
   * at once for a store that is not open or is in memory.
   * @throws StoreError (corrupt) that names the damaged file, or (closed) if the store was closed, cleared or prepared for another use meanwhile
   * and it cannot be said whether what was found is damage.
   */
  scrub(): AsyncIterable<ScrubbedPart>;
  /** Deletes everything and leaves an empty, open store; closes all snapshots. Repairs a store that is too damaged to open. */
  clear(): Promise<void>;
  close(): Promise<void>;
}
