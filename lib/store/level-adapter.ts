// The store's port on an engine of abstract-level. Every engine error leaves as a StoreError
// that names the store.

import { StoreError, type StoreFailure } from './errors';
import { fill } from './level-batch';
import { encodings, notOpen, type Engine, type EngineKind, type ReadOptions } from './level-engine';
import type { OpeningProgress, ScrubbedPart, Store, StoreRange, StoreSnapshot, StoreUse, StoreWrite } from './store';

/** Keys looked up before others get the event loop: handing over the values takes as long. */
const KEYS_PER_SLICE = 500;

export class LevelStore implements Store {
  readonly #kind: EngineKind;
  #opened: Engine | undefined;
  #use: StoreUse = 'following';
  #openings = 0;
  #opening = new AbortController();
  /** Settled when no batch is being written. Never rejects. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(kind: EngineKind) {
    this.#kind = kind;
  }

  get #engine(): Engine {
    if (this.#opened === undefined) throw notOpen();
    return this.#opened;
  }

  open(onProgress: (progress: OpeningProgress) => void = () => undefined): Promise<void> {
    return this.#async('open', async () => {
      const { signal } = this.#opening = new AbortController();
      await this.#kind.fitTables();
      const damage = await this.#kind.findDamage({ onProgress, signal });
      signal.throwIfAborted();
      if (damage === undefined) return this.#openEngine();
      // Whoever has the folder open changes files under our eyes.
      await this.#kind.requireOurs();
      throw corruption(damage);
    });
  }

  async close(): Promise<void> {
    this.#opening.abort(notOpen());
    await this.#async('close', async () => {
      const engine = this.#opened;
      // Another one takes its place, with tables that suit the size of the files by then.
      if (this.#kind.isKept) this.#opened = undefined;
      // What is written while the engine closes would be in a log behind an empty one: as if that one had lost its writes.
      await this.#writing;
      if (engine !== undefined) await this.#kind.close(engine);
      await this.#kind.tightenFiles();
    });
  }

  /** abstract-level's engines begin to open when they are constructed. */
  async #openEngine(): Promise<void> {
    await this.#kind.makeFolder();
    this.#openings++;
    await (this.#opened ??= this.#kind.make(this.#use)).open();
    await this.#kind.tightenFiles();
  }

  get(key: Buffer): Buffer | undefined {
    return this.#sync(() => this.#engine.getSync(key));
  }

  load(keys: readonly Buffer[], options?: ReadOptions): Promise<(Buffer | undefined)[]> {
    return this.#async('read', async () => {
      if (keys.length <= KEYS_PER_SLICE) return this.#engine.getMany(keys, options);
      const values: (Buffer | undefined)[] = [];
      for (let at = 0; at < keys.length; at += KEYS_PER_SLICE) values.push(...await this.#engine.getMany(keys.slice(at, at + KEYS_PER_SLICE), options));
      return values;
    });
  }

  async *range(range: StoreRange): AsyncGenerator<readonly [Buffer, Buffer]> {
    try {
      yield* this.#engine.iterator(range);
    } catch (error) {
      throw this.#wrap('read', error);
    }
  }

  snapshot(): StoreSnapshot {
    return this.#sync(() => {
      const snapshot = this.#engine.snapshot();
      const options: ReadOptions = { snapshot, ...encodings };
      return {
        get: (key) => this.#sync(() => this.#engine.getSync(key, options)),
        load: (keys) => this.load(keys, options),
        // Only waits for reads that are under way.
        close: () => void snapshot.close()
      };
    });
  }

  batch(writes: Iterable<StoreWrite>, options: { readonly durable: boolean }): Promise<void> {
    const written = this.#async('write', async () => {
      const batch = this.#kind.batch(this.#engine);
      try {
        await fill(batch, writes);
        await batch.write({ sync: options.durable });
      } finally {
        await batch.close();
      }
      // Not after each of many.
      if (options.durable) await this.#kind.tightenFiles();
    });
    this.#writing = Promise.allSettled([this.#writing, written]);
    return written;
  }

  compact(range: Pick<StoreRange, 'gte' | 'lt'>): Promise<void> {
    return this.#async('compact', () => this.#kind.compact(this.#engine, range));
  }

  prepareFor(use: StoreUse): Promise<void> {
    return this.#async('open', async () => {
      this.#requireOpen();
      if (!this.#kind.isKept || use === this.#use && !await this.#kind.fitTables()) return;
      const engine = this.#requireOpen();
      this.#use = use;
      this.#opened = undefined;
      await this.#kind.close(engine);
      await this.#kind.fitTables();
      await this.#openEngine();
    });
  }

  async *scrub(): AsyncGenerator<ScrubbedPart> {
    const openings = this.#openings;
    // Otherwise files may be missing for good reasons.
    const isStillOpen = (): boolean => openings === this.#openings && this.#opened?.status === 'open';
    if (this.#kind.scrub === undefined || !isStillOpen()) return;
    try {
      const damage = yield* this.#kind.scrub();
      if (damage !== undefined) throw corruption(damage);
    } catch (error) {
      if (isStillOpen()) throw this.#wrap('scrub', error);
    }
  }

  clear(): Promise<void> {
    return this.#async('clear', async () => {
      await this.#kind.empty(this.#opened);
      await this.#openEngine();
    });
  }

  #requireOpen(): Engine {
    const engine = this.#engine;
    if (engine.status !== 'open') throw notOpen();
    return engine;
  }

  #sync<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw this.#wrap('read', error);
    }
  }

  async #async<T>(action: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw this.#wrap(action, error);
    }
  }

  #wrap(action: string, error: unknown): StoreError {
    // abstract-level says only "failed to open" and puts the engine's words into the cause.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const { code, message } = cause instanceof Error ? cause as NodeJS.ErrnoException : { code: '', message: String(cause) };
    return new StoreError(failureOf(code ?? '', message), `cannot ${action} the store in ${this.#kind.name}: ${message}`, { cause: error });
  }
}

function corruption(damage: string): Error {
  return Object.assign(new Error(damage), { code: 'LEVEL_CORRUPTION' });
}

function failureOf(code: string, message: string): StoreFailure {
  if (code === 'LEVEL_LOCKED') return 'locked';
  if (code === 'LEVEL_CORRUPTION') return 'corrupt';
  if (code.endsWith('_NOT_OPEN')) return 'closed';
  // LevelDB gives only the system's text.
  return /permission denied|read-only|EACCES|EROFS|EPERM/i.test(message) ? 'denied' : 'failed';
}
