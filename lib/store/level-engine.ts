// What the store uses of abstract-level's engines: LevelDB on disk (classic-level) and a sorted
// tree in memory (memory-level). Its own generic types do not fit both.

import type { LevelCheckOptions } from './leveldb-files/check';
import type { ScrubbedPart, StoreRange, StoreUse } from './store';

export const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const;

export interface EngineSnapshot {
  close(): Promise<void>;
}

/** Given whole with every read from a snapshot: abstract-level copies options that lack the encodings. */
export interface ReadOptions {
  readonly snapshot: EngineSnapshot;
  readonly keyEncoding: 'buffer';
  readonly valueEncoding: 'buffer';
}

export interface EngineBatch {
  put(key: Buffer, value: Buffer): unknown;
  del(key: Buffer): unknown;
  write(options: { readonly sync: boolean }): Promise<void>;
  close(): Promise<void>;
}

export interface Engine {
  readonly status: string;
  open(): Promise<void>;
  close(): Promise<void>;
  getSync(key: Buffer, options?: ReadOptions): Buffer | undefined;
  getMany(keys: readonly Buffer[], options?: ReadOptions): Promise<(Buffer | undefined)[]>;
  batch(): EngineBatch;
  iterator(range: StoreRange): AsyncIterable<[Buffer, Buffer]>;
  snapshot(): EngineSnapshot;
  clear(): Promise<void>;
}

/** In what the engines differ. */
export interface EngineKind {
  readonly name: string;
  readonly make: (use: StoreUse) => Engine;
  /** Has engines that are made from now on write tables that suit the size of the files. Whether they are larger ones. */
  readonly fitTables: () => Promise<boolean>;
  /** Whether another engine finds what one has written: then each use has its own. */
  readonly isKept: boolean;
  readonly close: (engine: Engine) => Promise<void>;
  readonly batch: (engine: Engine) => EngineBatch;
  readonly empty: (engine: Engine | undefined) => Promise<void>;
  /** What is wrong with the files; undefined: nothing. The engine is not open. */
  readonly findDamage: (options: LevelCheckOptions) => Promise<string | undefined>;
  readonly requireOurs: () => Promise<void>;
  /** Makes what engines lie in. */
  readonly makeFolder: () => Promise<void>;
  /** Takes from other users what they may do with the engine's files. Never rejects. */
  readonly tightenFiles: () => Promise<void>;
  /** As `scrubTables`, of the engine that is open; undefined: there are no files. */
  readonly scrub: (() => AsyncGenerator<ScrubbedPart, string | undefined>) | undefined;
  readonly compact: (engine: Engine, range: Pick<StoreRange, 'gte' | 'lt'>) => Promise<void>;
}

export function notOpen(): Error {
  return Object.assign(new Error('it is not open'), { code: 'LEVEL_DATABASE_NOT_OPEN' });
}
