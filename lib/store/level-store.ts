// The port on abstract-level 3: LevelDB on disk (classic-level) and a sorted tree in memory
// (memory-level). Every engine error leaves as a StoreError that names the store.

import { setImmediate } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { MemoryLevel } from 'memory-level';
import { StoreError, type StoreFailure } from './errors';
import { findLostWrites } from './level-log';
import type { Store, StoreRange, StoreSnapshot, StoreWrite } from './store';

interface EngineSnapshot {
  close(): Promise<void>;
}

/** Given whole with every read from a snapshot: abstract-level copies options that lack the encodings. */
interface ReadOptions {
  readonly snapshot: EngineSnapshot;
  readonly keyEncoding: 'buffer';
  readonly valueEncoding: 'buffer';
}

/** Takes a third of the time of a batch given as an array, each write of which is copied twice. */
interface EngineBatch {
  put(key: Buffer, value: Buffer): unknown;
  del(key: Buffer): unknown;
  write(options: { readonly sync: boolean }): Promise<void>;
  close(): Promise<void>;
}

/** What we use of abstract-level; its own generic types do not fit both engines. */
interface Engine {
  open(): Promise<void>;
  close(): Promise<void>;
  getSync(key: Buffer, options?: ReadOptions): Buffer | undefined;
  getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>;
  batch(): EngineBatch;
  iterator(range: StoreRange): AsyncIterable<[Buffer, Buffer]>;
  snapshot(): EngineSnapshot;
  clear(): Promise<void>;
}

const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const;

/** Memory for blocks of the tables and for writes not yet in one. */
const CACHE_BYTES = 32 * 1024 * 1024;
const WRITE_BUFFER_BYTES = 16 * 1024 * 1024;
/** Writes handed to the engine before others get the event loop: about a millisecond. */
const WRITES_PER_SLICE = 1_000;
/** Fewer, larger tables: with LevelDB's 2 MiB, an index of the main network would have ten thousand. */
const TABLE_BYTES = 16 * 1024 * 1024;

/** A store in a folder of its own, which is made when it is missing. */
export function diskStore(folder: string): Store {
  const make = (): Engine => new ClassicLevel<Buffer, Buffer>(folder, {
    ...encodings,
    cacheSize: CACHE_BYTES,
    writeBufferSize: WRITE_BUFFER_BYTES,
    maxFileSize: TABLE_BYTES
  });
  const empty = async (engine: Engine): Promise<void> => {
    await engine.close();
    await ClassicLevel.destroy(folder);
  };
  return new LevelStore(folder, make, empty, () => findLostWrites(folder));
}

/** A store that is gone when the process ends. It keeps the Buffers that it is given. */
export function memoryStore(): Store {
  const noLogs = (): Promise<undefined> => Promise.resolve(undefined);
  return new LevelStore('memory', () => new MemoryLevel<Buffer, Buffer>(encodings), (engine) => engine.clear(), noLogs);
}

class LevelStore implements Store {
  readonly #name: string;
  readonly #make: () => Engine;
  readonly #empty: (engine: Engine) => Promise<void>;
  readonly #lostWrites: () => Promise<string | undefined>;
  #opened: Engine | undefined;

  constructor(name: string, make: () => Engine, empty: (engine: Engine) => Promise<void>, lostWrites: () => Promise<string | undefined>) {
    this.#name = name;
    this.#make = make;
    this.#empty = empty;
    this.#lostWrites = lostWrites;
  }

  /** Made at first use: abstract-level's engines begin to open when they are constructed. */
  get #engine(): Engine {
    return this.#opened ??= this.#make();
  }

  open(): Promise<void> {
    return this.#async('open', async () => {
      // Looked for before the engine throws the logs away; counts only if the folder is ours to open.
      const lost = await this.#lostWrites();
      await this.#engine.open();
      if (lost !== undefined) throw Object.assign(new Error(lost), { code: 'LEVEL_CORRUPTION' });
    });
  }

  async close(): Promise<void> {
    await this.#async('close', async () => this.#opened?.close());
  }

  get(key: Buffer): Buffer | undefined {
    return this.#sync(() => this.#engine.getSync(key));
  }

  getMany(keys: readonly Buffer[]): (Buffer | undefined)[] {
    return this.#sync(() => keys.map((key) => this.#engine.getSync(key)));
  }

  load(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    return this.#async('read', () => this.#engine.getMany(keys));
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

  batch(writes: readonly StoreWrite[], options: { readonly durable: boolean }): Promise<void> {
    return this.#async('write', async () => {
      const batch = this.#engine.batch();
      try {
        await fill(batch, writes);
        await batch.write({ sync: options.durable });
      } finally {
        await batch.close();
      }
    });
  }

  clear(): Promise<void> {
    return this.#async('clear', async () => {
      await this.#empty(this.#engine);
      await this.#engine.open();
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
    return new StoreError(failureOf(code ?? '', message), `cannot ${action} the store in ${this.#name}: ${message}`, { cause: error });
  }
}

async function fill(batch: EngineBatch, writes: readonly StoreWrite[]): Promise<void> {
  for (const [i, write] of writes.entries()) {
    if (i > 0 && i % WRITES_PER_SLICE === 0) await setImmediate();
    if (write.type === 'put') batch.put(write.key, write.value);
    else batch.del(write.key);
  }
}

function failureOf(code: string, message: string): StoreFailure {
  if (code === 'LEVEL_LOCKED') return 'locked';
  if (code === 'LEVEL_CORRUPTION') return 'corrupt';
  if (code.endsWith('_NOT_OPEN')) return 'closed';
  // LevelDB gives only the system's text.
  return /permission denied|read-only|EACCES|EROFS|EPERM/i.test(message) ? 'denied' : 'failed';
}
