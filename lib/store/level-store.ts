// The port on abstract-level 3: LevelDB on disk (classic-level) and a sorted tree in memory
// (memory-level). Every engine error leaves as a StoreError that names the store.

import { setImmediate } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { MemoryLevel } from 'memory-level';
import { StoreError, type StoreFailure } from './errors';
import { findDamage, type LevelCheckOptions } from './level-check';
import type { OpeningProgress, Store, StoreRange, StoreSnapshot, StoreWrite } from './store';

interface EngineSnapshot {
  close(): Promise<void>;
}

/** Given whole with every read from a snapshot: abstract-level copies options that lack the encodings. */
interface ReadOptions {
  readonly snapshot: EngineSnapshot;
  readonly keyEncoding: 'buffer';
  readonly valueEncoding: 'buffer';
}

interface EngineBatch {
  put(key: Buffer, value: Buffer): unknown;
  del(key: Buffer): unknown;
  write(options: { readonly sync: boolean }): Promise<void>;
  close(): Promise<void>;
}

/** The half of a batch that abstract-level asks of engines on disk. */
interface BareBatch {
  _put(key: Buffer, value: Buffer): void;
  _del(key: Buffer): void;
  _clear(): void;
  _write(options: { readonly sync: boolean }): Promise<void>;
}

/**
 * Batches that go around abstract-level's own half, which checks and copies each write for
 * encodings, hooks and events that are not in use here: 3 µs for a write that takes half of
 * one. They share one batch of the engine: its memory, tens of megabytes, is only given back
 * by the garbage collector, which sees nothing of it.
 */
function bareBatches(): (engine: Engine) => EngineBatch {
  let spare: { readonly engine: Engine; readonly batch: BareBatch } | undefined;
  return (engine) => {
    const batch = spare?.engine === engine ? spare.batch : engine.batch() as unknown as BareBatch; // every engine's batch on disk has both halves
    spare = undefined;
    return {
      put: (key, value) => { batch._put(key, value); },
      del: (key) => { batch._del(key); },
      write: async (options) => {
        // Otherwise the engine would be called without its database.
        if (engine.status !== 'open') throw notOpen();
        await batch._write(options);
      },
      close: () => {
        batch._clear();
        spare = { engine, batch };
        return Promise.resolve();
      }
    };
  };
}

/** What we use of abstract-level; its own generic types do not fit both engines. */
interface Engine {
  readonly status: string;
  open(): Promise<void>;
  close(): Promise<void>;
  getSync(key: Buffer, options?: ReadOptions): Buffer | undefined;
  getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>;
  batch(): EngineBatch;
  iterator(range: StoreRange): AsyncIterable<[Buffer, Buffer]>;
  snapshot(): EngineSnapshot;
  clear(): Promise<void>;
}

interface CompactableEngine {
  compactRange(start: Buffer, end: Buffer): Promise<void>;
}

const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const;

/** Memory for blocks of the tables, and for writes not yet in one: the more, the less is merged again. */
const CACHE_BYTES = 32 * 1024 * 1024;
const WRITE_BUFFER_BYTES = 64 * 1024 * 1024;
/** Writes handed to the engine before others get the event loop: about a millisecond. */
const WRITES_PER_SLICE = 1_000;
/** Keys looked up before others get the event loop: handing over the values takes as long. */
const KEYS_PER_SLICE = 500;
/** Fewer, larger tables: with LevelDB's 2 MiB, an index of the main network would have ten thousand. */
const TABLE_BYTES = 16 * 1024 * 1024;

/** A store in a folder of its own, which is made when it is missing. */
export function diskStore(folder: string): Store {
  const make = (): Engine => new ClassicLevel<Buffer, Buffer>(folder, {
    ...encodings,
    cacheSize: CACHE_BYTES,
    writeBufferSize: WRITE_BUFFER_BYTES,
    // Hashes and amounts do not get smaller.
    compression: false,
    maxFileSize: TABLE_BYTES
  });
  return new LevelStore({
    name: folder,
    make,
    batch: bareBatches(),
    empty: async (engine) => {
      await engine?.close();
      await ClassicLevel.destroy(folder);
    },
    findDamage: (options) => findDamage(folder, options),
    requireOurs: () => requireLock(folder),
    compact: (engine, { gte, lt }) => (engine as Engine & CompactableEngine).compactRange(gte, lt) // every engine on disk has it
  });
}

/** @throws the engine's error when another has the folder or it must not be written. Nothing in it is read. */
async function requireLock(folder: string): Promise<void> {
  const engine: Engine = new ClassicLevel<Buffer, Buffer>(folder, { ...encodings, createIfMissing: false, errorIfExists: true });
  try {
    await engine.open();
  } catch (error) {
    // With the lock in hand it looks whether there is a database, and goes no further either way.
    if (!/error_if_exists is true|create_if_missing is false/.test(String((error as Error).cause))) throw error;
  } finally {
    await engine.close();
  }
}

/** A store that is gone when the process ends. */
export function memoryStore(): Store {
  return new LevelStore({
    name: 'memory',
    make: () => new MemoryLevel<Buffer, Buffer>(encodings),
    batch: copyingBatch,
    empty: async (engine) => engine?.clear(),
    findDamage: () => Promise.resolve(undefined),
    requireOurs: () => Promise.resolve(),
    compact: () => Promise.resolve()
  });
}

/** The engine in memory keeps what it is given. */
function copyingBatch(engine: Engine): EngineBatch {
  const batch = engine.batch();
  return {
    put: (key, value) => batch.put(Buffer.from(key), Buffer.from(value)),
    del: (key) => batch.del(Buffer.from(key)),
    write: (options) => batch.write(options),
    close: () => batch.close()
  };
}

/** In what the engines differ. */
interface EngineKind {
  readonly name: string;
  readonly make: () => Engine;
  readonly batch: (engine: Engine) => EngineBatch;
  readonly empty: (engine: Engine | undefined) => Promise<void>;
  /** What is wrong with the files; undefined: nothing. The engine is not open. */
  readonly findDamage: (options: LevelCheckOptions) => Promise<string | undefined>;
  readonly requireOurs: () => Promise<void>;
  readonly compact: (engine: Engine, range: Pick<StoreRange, 'gte' | 'lt'>) => Promise<void>;
}

class LevelStore implements Store {
  readonly #kind: EngineKind;
  #opened: Engine | undefined;
  #opening = new AbortController();

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
      const damage = await this.#kind.findDamage({ onProgress, signal });
      signal.throwIfAborted();
      if (damage === undefined) return this.#openEngine();
      // Whoever has the folder open changes files under our eyes.
      await this.#kind.requireOurs();
      throw Object.assign(new Error(damage), { code: 'LEVEL_CORRUPTION' });
    });
  }

  async close(): Promise<void> {
    this.#opening.abort(notOpen());
    await this.#async('close', async () => this.#opened?.close());
  }

  /** abstract-level's engines begin to open when they are constructed. */
  async #openEngine(): Promise<void> {
    await (this.#opened ??= this.#kind.make()).open();
  }

  get(key: Buffer): Buffer | undefined {
    return this.#sync(() => this.#engine.getSync(key));
  }

  getMany(keys: readonly Buffer[]): (Buffer | undefined)[] {
    return this.#sync(() => keys.map((key) => this.#engine.getSync(key)));
  }

  load(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    return this.#async('read', async () => {
      if (keys.length <= KEYS_PER_SLICE) return this.#engine.getMany(keys);
      const values: (Buffer | undefined)[] = [];
      for (let at = 0; at < keys.length; at += KEYS_PER_SLICE) values.push(...await this.#engine.getMany(keys.slice(at, at + KEYS_PER_SLICE)));
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
      const get = (key: Buffer): Buffer | undefined => this.#sync(() => this.#engine.getSync(key, options));
      return {
        get,
        getMany: (keys) => keys.map(get),
        // Only waits for reads that are under way, and these are synchronous.
        close: () => void snapshot.close()
      };
    });
  }

  batch(writes: Iterable<StoreWrite>, options: { readonly durable: boolean }): Promise<void> {
    return this.#async('write', async () => {
      const batch = this.#kind.batch(this.#engine);
      try {
        await fill(batch, writes);
        await batch.write({ sync: options.durable });
      } finally {
        await batch.close();
      }
    });
  }

  compact(range: Pick<StoreRange, 'gte' | 'lt'>): Promise<void> {
    return this.#async('compact', () => this.#kind.compact(this.#engine, range));
  }

  clear(): Promise<void> {
    return this.#async('clear', async () => {
      await this.#kind.empty(this.#opened);
      await this.#openEngine();
    });
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

async function fill(batch: EngineBatch, writes: Iterable<StoreWrite>): Promise<void> {
  let left = WRITES_PER_SLICE;
  for (const write of writes) {
    if (write.type === 'put') batch.put(write.key, write.value);
    else batch.del(write.key);
    if (--left > 0) continue;
    left = WRITES_PER_SLICE;
    await setImmediate();
  }
}

function notOpen(): Error {
  return Object.assign(new Error('it is not open'), { code: 'LEVEL_DATABASE_NOT_OPEN' });
}

function failureOf(code: string, message: string): StoreFailure {
  if (code === 'LEVEL_LOCKED') return 'locked';
  if (code === 'LEVEL_CORRUPTION') return 'corrupt';
  if (code.endsWith('_NOT_OPEN')) return 'closed';
  // LevelDB gives only the system's text.
  return /permission denied|read-only|EACCES|EROFS|EPERM/i.test(message) ? 'denied' : 'failed';
}
