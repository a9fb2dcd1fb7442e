// The pool on the disk (`--persistent-mempool`), with the fees that bcoin has seen. A batch that cannot be written, as on a full disk, stays in
// bcoin's pool, which fails at each transaction and block from then on; and LevelDB refuses all writes until it is opened again. Here the pool
// goes on without its copy, and writes it anew once that succeeds.

import { setImmediate } from 'node:timers/promises';
import { messageOf } from '../system/error-text';
import { Slice } from '../turns/slices';
import type { HostHash, HostMempool, HostNode, HostPoolStore } from './host';

/** Before it is tried again. bcoin writes at blocks, and at transactions when ten seconds have passed. */
const PAUSE_MS = 10_000;

export interface StoredPoolParts extends Pick<HostNode, 'mempool' | 'fees'> {
  readonly logger: Pick<HostNode['logger'], 'error' | 'info'>;
}

export class StoredPool {
  readonly #mempool: HostMempool;
  readonly #fees: StoredPoolParts['fees'];
  readonly #logger: StoredPoolParts['logger'];
  readonly #store: HostPoolStore;
  readonly #pauseMs: number;
  readonly #wipe: () => Promise<void>;
  /** The block that was noted since the last write. */
  #tip: HostHash | undefined;
  /** All writes so far, which come one after the other. Never rejects. */
  #writing = Promise.resolve();
  /** When it is tried again; undefined: it has not failed. */
  #retryAt: number | undefined;

  private constructor({ mempool, fees, logger }: StoredPoolParts, store: HostPoolStore, pauseMs: number) {
    this.#mempool = mempool;
    this.#fees = fees;
    this.#logger = logger;
    this.#store = store;
    this.#pauseMs = pauseMs;
    this.#wipe = mempool.cache.wipe.bind(mempool.cache);
  }

  /** Takes over the pool on the disk, if the node has one. */
  static takeOver(parts: StoredPoolParts, pauseMs = PAUSE_MS): void {
    const { db } = parts.mempool.cache;
    if (db !== null) new StoredPool(parts, db, pauseMs).#replace();
  }

  #replace(): void {
    const { cache } = this.#mempool;
    const [sync, clear, close] = [cache.sync.bind(cache), cache.clear.bind(cache), this.#mempool.close.bind(this.#mempool)];
    cache.sync = (tip) => {
      this.#tip = tip;
      sync(tip);
    };
    cache.flush = () => this.#next(() => this.#flush());
    // While it opens, an error ends the start.
    cache.wipe = () => (cache.batch === null ? this.#wipe() : this.#next(() => this.#clear()));
    cache.clear = () => {
      if (cache.db !== null) clear();
    };
    this.#mempool.close = async () => {
      if (this.#retryAt !== undefined) this.#retryAt = -Infinity;
      // bcoin would lose what has come since it wrote last.
      await cache.flush();
      await close();
    };
  }

  #next(work: () => Promise<void>): Promise<void> {
    return (this.#writing = this.#writing.then(work));
  }

  async #flush(): Promise<void> {
    const { cache, tip } = this.#mempool;
    const reached = this.#tip ?? tip;
    this.#tip = undefined;
    // It was never opened.
    if (cache.batch === null) return;
    if (this.#retryAt === undefined) await this.#attempt(() => this.#writeBatch());
    else if (performance.now() >= this.#retryAt) await this.#attempt(() => this.#writeAnew(reached));
  }

  async #clear(): Promise<void> {
    if (this.#mempool.cache.db !== null) await this.#attempt(this.#wipe);
  }

  /** What enters the pool meanwhile belongs to the next batch. */
  async #writeBatch(): Promise<void> {
    const { cache } = this.#mempool;
    const { batch } = cache;
    cache.batch = this.#store.batch();
    await batch?.write();
  }

  /** In one batch, since a part of a pool may lack parents. */
  async #writeAnew(tip: HostHash): Promise<void> {
    const { cache, map } = this.#mempool;
    await this.#store.open();
    cache.batch = this.#store.batch();
    cache.db = this.#store;
    await this.#wipe();
    const slice = new Slice();
    // What enters or leaves meanwhile is in the batch after its earlier state.
    for (const entry of map.values()) {
      cache.save(entry);
      if (slice.isOver()) await setImmediate();
    }
    if (this.#fees !== null) cache.writeFees(this.#fees);
    cache.sync(tip);
    await this.#writeBatch();
    this.#retryAt = undefined;
    this.#logger.info('The pool is on the disk again: %d transactions.', map.size);
  }

  /** Does without the disk if the work fails. Never rejects. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    const { cache } = this.#mempool;
    try {
      await work();
    } catch (error) {
      if (this.#retryAt === undefined)
        this.#logger.error(
          'The pool cannot be written to %s: %s. It goes on without, and is written again once that succeeds.',
          this.#store.location,
          messageOf(error)
        );
      this.#retryAt = performance.now() + this.#pauseMs;
      // Without a database, bcoin's pool keeps nothing for it.
      cache.db = null;
      await this.#store.close().catch(() => undefined);
    }
  }
}
