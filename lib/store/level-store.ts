// What both stores share: an engine with the interface of abstract-level, which is LevelDB on disk
// (classic-level) or a sorted tree in memory (memory-level). Reads are the same for both, and every
// error of an engine becomes a StoreError that names the store.

import { setImmediate } from 'node:timers/promises';
import { StoreError, type StoreFailure } from './errors';
import { TurnAllowance } from '../turns/turn-allowance';
import type { RangeHead, StoreEntry, StoreRange, StoreSnapshot, StoreWrite } from './store';

/** Keys in one lookup: handing over the values of more would block the event loop for too long. */
const KEYS_PER_SLICE = 500;

/** Entries of a range that are asked for together; LevelDB hands over 16 KiB of them at most. */
const ENTRIES_AT_ONCE = 512;

/** Iterators that a snapshot keeps for each direction. */
const MOST_IDLE = 16;

/** Before and behind all keys. */
const EVERYTHING = { gte: Buffer.alloc(0), lt: Buffer.alloc(1, 0xff) };

/** Writes handed to an engine between two turns of the event loop: about a millisecond. */
const WRITES_PER_SLICE = 1_000;

export const ENCODINGS = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const;

/** Options of reads from a snapshot. They include the encodings, since abstract-level copies options that lack them. */
type ReadOptions = typeof ENCODINGS & { readonly snapshot: EngineSnapshot };

interface EngineSnapshot {
  close(): Promise<void>;
}

/** The part of an engine that the stores use. The generic types of abstract-level do not fit both engines. */
export interface Engine {
  readonly status: string;
  open(): Promise<void>;
  close(): Promise<void>;
  getSync(key: Buffer, options?: ReadOptions): Buffer | undefined;
  getMany(keys: readonly Buffer[], options?: ReadOptions): Promise<(Buffer | undefined)[]>;
  iterator(range: StoreRange & Partial<ReadOptions>): EngineIterator;
  snapshot(): EngineSnapshot;
}

interface EngineIterator {
  /** At most `size` of the next entries, fewer if they are long; none after the last. */
  nextv(size: number): Promise<[Buffer, Buffer][]>;
  /** Moves to the first entry at a key or behind it, in the direction of the iterator. */
  seek(key: Buffer): void;
  close(): Promise<void>;
}

export abstract class LevelStore<E extends Engine> {
  /** undefined: the store is not open. */
  protected engine: E | undefined;
  readonly #name: string;
  readonly #allowance = new TurnAllowance();

  protected constructor(name: string) {
    this.#name = name;
  }

  get(key: Buffer): Buffer | undefined {
    try {
      return this.requireEngine().getSync(key);
    } catch (error) {
      throw this.failure('read', error);
    }
  }

  load(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    return this.#load(keys);
  }

  async *range(range: StoreRange): AsyncGenerator<readonly [Buffer, Buffer]> {
    yield* this.#range(this.engine, range);
  }

  snapshot(): StoreSnapshot {
    try {
      const engine = this.requireEngine();
      const snapshot = engine.snapshot();
      const options: ReadOptions = { snapshot, ...ENCODINGS };
      const heads = new Heads(
        (range) => engine.iterator({ ...range, ...options }),
        this.#allowance,
        (error) => this.failure('read', error)
      );
      const get = (key: Buffer): Buffer | undefined => {
        try {
          return engine.getSync(key, options);
        } catch (error) {
          throw this.failure('read', error);
        }
      };
      /** The values of the first keys, as many as the turn allows. */
      const firstOf = (keys: readonly Buffer[]): (Buffer | undefined)[] => {
        const found: (Buffer | undefined)[] = [];
        for (const key of keys) {
          if (this.#allowance.isSpent) break;
          found.push(this.#allowance.read(get, key));
        }
        return found;
      };
      return {
        get,
        soon: (keys) => {
          const found = firstOf(keys);
          return found.length === keys.length ? found : undefined;
        },
        few: (keys) => {
          const found = firstOf(keys);
          if (found.length === keys.length) return found;
          return this.#load(keys.slice(found.length), options).then((others) => [...found, ...others]);
        },
        load: (keys) => this.#load(keys, options),
        range: (range) => this.#range(engine, { ...range, ...options }),
        pages: (range) => this.#pages(engine, { ...range, ...options }),
        head: (range, most) => heads.read(range, most),
        // Not awaited: it only waits for reads in progress.
        close: () => {
          heads.close();
          void snapshot.close();
        }
      };
    } catch (error) {
      throw this.failure('read', error);
    }
  }

  /** The engine may be closing or closed. It then refuses all operations itself, except batches on disk. */
  protected requireEngine(): E {
    return this.engine ?? notOpen();
  }

  protected requireOpen(): E {
    const engine = this.requireEngine();
    return engine.status === 'open' ? engine : notOpen();
  }

  protected async attempt<T>(action: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw this.failure(action, error);
    }
  }

  protected failure(action: string, error: unknown): StoreError {
    // abstract-level says only "failed to open" and puts the engine's words into the cause.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const { code, message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { code: '', message: String(cause) };
    return new StoreError(reasonOf(code ?? '', message), `cannot ${action} the store in ${this.#name}: ${message}`, { cause: error });
  }

  async *#range(engine: E | undefined, range: StoreRange & Partial<ReadOptions>): AsyncGenerator<StoreEntry, void> {
    for await (const entries of this.#pages(engine, range)) yield* entries;
  }

  async *#pages(engine: E | undefined, range: StoreRange & Partial<ReadOptions>): AsyncGenerator<readonly StoreEntry[], void> {
    let iterator: EngineIterator | undefined;
    try {
      iterator = (engine ?? notOpen()).iterator(range);
      // Many at a time: asked for single entries, an iterator would fetch the first one alone, and create a promise for each.
      for (let entries = await iterator.nextv(ENTRIES_AT_ONCE); entries.length > 0; entries = await iterator.nextv(ENTRIES_AT_ONCE)) {
        yield entries;
        if (range.limit !== undefined && entries.length >= range.limit) return;
      }
    } catch (error) {
      throw this.failure('read', error);
    } finally {
      await iterator?.close();
    }
  }

  #load(keys: readonly Buffer[], options?: ReadOptions): Promise<(Buffer | undefined)[]> {
    return this.attempt('read', async () => {
      const engine = this.requireEngine();
      if (keys.length <= KEYS_PER_SLICE) return engine.getMany(keys, options);
      const values: (Buffer | undefined)[] = [];
      for (let at = 0; at < keys.length; at += KEYS_PER_SLICE)
        values.push(...(await engine.getMany(keys.slice(at, at + KEYS_PER_SLICE), options)));
      return values;
    });
  }
}

/**
 * Reads the beginnings of ranges. Iterators are kept and moved, which takes less than making new ones. Moving one reads from the disk at once;
 * once the turn's allowance is spent, a new iterator does so off the event loop.
 */
class Heads {
  readonly #make: (range: StoreRange) => EngineIterator;
  readonly #allowance: TurnAllowance;
  readonly #failureOf: (error: unknown) => StoreError;
  readonly #idle: Readonly<Record<'forward' | 'reverse', EngineIterator[]>> = { forward: [], reverse: [] };
  #isClosed = false;

  constructor(make: (range: StoreRange) => EngineIterator, allowance: TurnAllowance, failureOf: (error: unknown) => StoreError) {
    this.#make = make;
    this.#allowance = allowance;
    this.#failureOf = failureOf;
  }

  read(range: Omit<StoreRange, 'limit'>, most: number): Promise<RangeHead> {
    return this.#allowance.isSpent ? this.#newRead(range, most) : this.#movedRead(range, most);
  }

  async #newRead(range: Omit<StoreRange, 'limit'>, most: number): Promise<RangeHead> {
    let iterator: EngineIterator | undefined;
    try {
      iterator = this.#make(range);
      const found = await iterator.nextv(most + 1);
      // Of long entries it may give fewer than it was asked for.
      return found.length > most
        ? { entries: found.slice(0, most), isWhole: false }
        : { entries: found, isWhole: found.length === 0 || (await iterator.nextv(1)).length === 0 };
    } catch (error) {
      throw this.#failureOf(error);
    } finally {
      void iterator?.close();
    }
  }

  async #movedRead({ gte, lt, reverse = false }: Omit<StoreRange, 'limit'>, most: number): Promise<RangeHead> {
    const idle = this.#idle[reverse ? 'reverse' : 'forward'];
    let iterator: EngineIterator | undefined;
    let found: readonly StoreEntry[];
    try {
      const moved = (iterator = idle.pop() ?? this.#make({ ...EVERYTHING, reverse }));
      this.#allowance.read(
        (key: Buffer) => {
          moved.seek(key);
        },
        reverse ? lt : gte
      );
      // One more, to see whether the range ends. Downwards the first may be that of the key that is not in the range any more.
      found = await moved.nextv(most + (reverse ? 2 : 1));
      // Of long entries it gives fewer than it was asked for.
      if (reverse && found.length === 1 && found[0]?.[0].equals(lt) === true) found = await moved.nextv(most + 1);
    } catch (error) {
      void iterator?.close();
      throw this.#failureOf(error);
    }
    if (this.#isClosed || idle.length >= MOST_IDLE) void iterator.close();
    else idle.push(iterator);
    const last = found.at(-1)?.[0];
    const isAtEnd = last === undefined || (reverse ? last.compare(gte) < 0 : last.compare(lt) >= 0);
    const within = found.filter(([key]) => key.compare(gte) >= 0 && key.compare(lt) < 0);
    return within.length > most ? { entries: within.slice(0, most), isWhole: false } : { entries: within, isWhole: isAtEnd };
  }

  close(): void {
    this.#isClosed = true;
    for (const iterators of Object.values(this.#idle)) for (const iterator of iterators.splice(0)) void iterator.close();
  }
}

/** Calls `take` with each write, in slices between which the event loop gets its turn; after the last slice it returns at once. */
export async function inSlices(writes: Iterable<StoreWrite>, take: (write: StoreWrite) => void): Promise<void> {
  let left = WRITES_PER_SLICE;
  for (const write of writes) {
    take(write);
    if (--left > 0) continue;
    left = WRITES_PER_SLICE;
    await setImmediate();
  }
}

/** The error of an engine that is not open. */
export const notOpenError = (): Error => Object.assign(new Error('it is not open'), { code: 'LEVEL_DATABASE_NOT_OPEN' });

/** @throws `notOpenError` */
export function notOpen(): never {
  throw notOpenError();
}

function reasonOf(code: string, message: string): StoreFailure {
  if (code === 'LEVEL_LOCKED') return 'locked';
  if (code === 'LEVEL_CORRUPTION') return 'corrupt';
  if (code.endsWith('_NOT_OPEN')) return 'closed';
  // LevelDB passes on only the system's text.
  return /permission denied|read-only|EACCES|EROFS|EPERM/i.test(message) ? 'denied' : 'failed';
}
