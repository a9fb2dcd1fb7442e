// The port: a small ordered key-value store. Knows no Bitcoin. Keys are ordered as bytes;
// a missing key is `undefined`. Reads are synchronous: the values are small and warm, and
// a trip through the thread pool costs more than the read.

/** A point-in-time view; unaffected by later writes. Must be closed. */
export interface StoreSnapshot {
  get(key: Buffer): Buffer | undefined;
  /** As the store's. One that is under way when the snapshot is closed ends before. */
  load(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>;
  /** Off the event loop. One that is under way when the snapshot is closed ends before. */
  range(range: StoreRange): AsyncIterable<readonly [key: Buffer, value: Buffer]>;
  close(): void;
}

export interface StoreRange {
  readonly gte: Buffer;
  readonly lt: Buffer;
  readonly reverse?: boolean;
  readonly limit?: number;
}

export interface StorePut {
  readonly type: 'put';
  readonly key: Buffer;
  readonly value: Buffer;
}

export type StoreWrite = StorePut | { readonly type: 'del'; readonly key: Buffer };

/** How many bytes of its files a store has looked through before it opens. */
export interface OpeningProgress {
  readonly done: number;
  readonly total: number;
}

/** Bytes of its files that a store has looked through again and found right, and how many there are in all by now. */
export interface ScrubbedPart {
  readonly count: number;
  readonly total: number;
}

/** What comes next: batch after batch, or a block now and then between reads. */
export type StoreUse = 'catching-up' | 'following';

export interface BatchOptions {
  /** On the disk itself when the promise resolves. */
  readonly durable: boolean;
  /** Called when the store has a copy of all writes, and has not written them yet. */
  readonly onTaken?: (() => void) | undefined;
}

export interface Store {
  /**
   * Looks through all its files first, which takes a second for some gigabytes at best.
   * @throws StoreError when the folder cannot be opened, is in use or damaged, and when it is closed meanwhile.
   */
  open(onProgress?: (progress: OpeningProgress) => void): Promise<void>;
  get(key: Buffer): Buffer | undefined;
  /** The values in the order of the keys, off the event loop: for thousands of cold keys. */
  load(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>;
  range(range: StoreRange): AsyncIterable<readonly [key: Buffer, value: Buffer]>;
  snapshot(): StoreSnapshot;
  /**
   * All or nothing. The writes are asked for one by one, and others get the event loop in between. The bytes
   * of a write are copied before the next one is asked for.
   */
  batch(writes: Iterable<StoreWrite>, options: BatchOptions): Promise<void>;
  /**
   * Sets the store up for a use, and for the size that it has come to; it is opened for `following`. When that changes
   * anything all snapshots are closed, and whoever reads meanwhile is told that the store is closed.
   */
  prepareFor(use: StoreUse): Promise<void>;
  /**
   * Looks through what is on the disk again while the store is in use, once, a megabyte at a time, when asked for the
   * next. May end early when the store is closed or cleared meanwhile. Nothing to look at: in a store that is not open, or in memory.
   * @throws StoreError (corrupt) that names the damaged file.
   */
  scrub(): AsyncIterable<ScrubbedPart>;
  /** Deletes everything and leaves an empty, open store; closes all snapshots. Repairs a store that is too damaged to open. */
  clear(): Promise<void>;
  close(): Promise<void>;
}
