// A store that remembers whether its last batch was durable.

import type {
  BatchOptions,
  OpeningProgress,
  ScrubbedPart,
  Store,
  StoreRange,
  StoreSnapshot,
  StoreUse,
  StoreWrite
} from '../../lib/store/store';

export class WatchedStore implements Store {
  /** Whether the last batch was on the disk itself when it resolved. */
  lastDurable = false;
  readonly pages: Store['pages'];
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
    this.pages = store.pages;
  }

  open(onProgress?: (progress: OpeningProgress) => void): Promise<void> {
    return this.#store.open(onProgress);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  get(key: Buffer): Buffer | undefined {
    return this.#store.get(key);
  }

  load(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    return this.#store.load(keys);
  }

  range(range: StoreRange): AsyncIterable<readonly [Buffer, Buffer]> {
    return this.#store.range(range);
  }

  snapshot(): StoreSnapshot {
    return this.#store.snapshot();
  }

  async batch(writes: Iterable<StoreWrite>, options: BatchOptions): Promise<void> {
    await this.#store.batch(writes, options);
    this.lastDurable = options.durable;
  }

  prepareFor(use: StoreUse): Promise<void> {
    return this.#store.prepareFor(use);
  }

  scrub(): AsyncIterable<ScrubbedPart> {
    return this.#store.scrub();
  }

  clear(): Promise<void> {
    return this.#store.clear();
  }
}
