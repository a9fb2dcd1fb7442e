// A store in a folder: LevelDB (classic-level), whose files are checked before it opens them.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { findDamage } from './leveldb-files/check';
import { scrubTables } from './leveldb-files/scrub';
import { ENCODINGS, inSlices, LevelStore, notOpen, type Engine } from './level-store';
import { PrivateFolder } from './private-folder';
import type { BatchOptions, OpeningProgress, ScrubbedPart, Store, StoreUse, StoreWrite } from './store';

/** LevelDB's cache, for tables that it does not map into memory: from the thousandth on. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** LevelDB's write buffer, of which it may have two, while others need the memory more. */
const CATCH_UP_BUFFER_BYTES = 32 * 1024 * 1024;
/** After a crash as much is read from the log again, which takes some seconds. */
const LARGEST_BUFFER_BYTES = 192 * 1024 * 1024;
/** LevelDB writes each block of a table with a system call. With its default of 4 KiB these are a tenth of the work of catching up. */
const BLOCK_BYTES = 16 * 1024;

/** LevelDB deletes merged tables while all reads and writes wait: for smaller tables they wait shorter. */
const SMALLEST_TABLE_BYTES = 2 * 1024 * 1024;
/** The largest that LevelDB makes. */
const LARGEST_TABLE_BYTES = 1024 * 1024 * 1024;
/** Of the thousand that LevelDB has open. The rest is for older tables, which get larger only when they are merged. */
const MOST_TABLES = 600;

/** Behind all keys. */
const BEHIND_ALL = Buffer.from([0xff]);

export interface DiskStoreOptions {
  /**
   * Bytes of LevelDB's write buffer while the store follows, from 32 to 192 MiB. A full buffer is soon merged through all
   * levels, which writes most of the store again: the larger it is, the less often.
   */
  readonly latestBytes?: number;
  /** Whether `open` checks tables; true unless given. If not, that is left to `scrub`. */
  readonly readsTablesFirst?: boolean;
}

/** What classic-level has beyond the interface of all engines. */
interface DiskEngine extends Engine {
  batch(): unknown;
  compactRange(start: Buffer, end: Buffer): Promise<void>;
}

/**
 * The half of a batch that classic-level implements for abstract-level. The public half checks and copies each write for
 * encodings, hooks and events that are not in use here: that takes 3 µs for a write of half a microsecond.
 */
interface BareBatch {
  _put(key: Buffer, value: Buffer): void;
  _del(key: Buffer): void;
  _clear(): void;
  _write(options: { readonly sync: boolean }): Promise<void>;
}

/** A store in a folder of its own, which is made if it is missing, and which only its owner can read. */
export class DiskStore extends LevelStore<DiskEngine> implements Store {
  readonly #path: string;
  readonly #folder: PrivateFolder;
  /** Memory for the latest writes while the store follows. */
  readonly #followingBytes: number;
  readonly #readsTablesFirst: boolean;
  #use: StoreUse = 'following';
  #tableBytes = SMALLEST_TABLE_BYTES;
  #opening = new AbortController();
  /**
   * A batch of the open engine that is used again: tens of megabytes that only the garbage collector frees, which does not see
   * how many they are.
   */
  #spareBatch: BareBatch | undefined;
  /** Settled when no batch is being written. Never rejects. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(path: string, { latestBytes = 0, readsTablesFirst = true }: DiskStoreOptions = {}) {
    super(path);
    this.#path = path;
    this.#folder = new PrivateFolder(path);
    this.#readsTablesFirst = readsTablesFirst;
    this.#followingBytes = Math.min(Math.max(latestBytes, CATCH_UP_BUFFER_BYTES), LARGEST_BUFFER_BYTES);
  }

  open(onProgress: (progress: OpeningProgress) => void = () => undefined): Promise<void> {
    return this.attempt('open', async () => {
      const { signal } = (this.#opening = new AbortController());
      const damage = await findDamage(this.#path, { onProgress, signal, readsTables: this.#readsTablesFirst });
      signal.throwIfAborted();
      if (damage === undefined) return this.#openEngine();
      // Another process that has the folder open may change files during the check.
      await requireLock(this.#path);
      throw corruption(damage);
    });
  }

  batch(writes: Iterable<StoreWrite>, { durable, onTaken }: BatchOptions): Promise<void> {
    const written = this.attempt('write', async () => {
      const engine = this.requireEngine();
      const batch = this.#spareBatch ?? (engine.batch() as BareBatch); // the batches of classic-level have both halves
      this.#spareBatch = undefined;
      try {
        await inSlices(writes, (write) => {
          if (write.type === 'put') batch._put(write.key, write.value);
          else batch._del(write.key);
        });
        onTaken?.();
        // This half of a batch would call LevelDB even if it is closed.
        if (engine.status !== 'open') notOpen();
        await batch._write({ sync: durable });
      } finally {
        batch._clear();
        if (engine === this.engine) this.#spareBatch = batch;
      }
      // Otherwise one of many comes next: not after each.
      if (durable) await this.#folder.tightenFiles();
    });
    this.#writing = Promise.allSettled([this.#writing, written]);
    return written;
  }

  prepareFor(use: StoreUse): Promise<void> {
    return this.attempt('open', async () => {
      this.requireOpen();
      if (use === this.#use && !(await this.#fitTables())) return;
      this.requireOpen();
      this.#use = use;
      await this.#closeEngine();
      await this.#openEngine();
    });
  }

  async *scrub(): AsyncGenerator<ScrubbedPart> {
    const { engine } = this;
    // When it is not, files may be missing for good reasons.
    const isStillOpen = (): boolean => engine?.status === 'open' && engine === this.engine;
    if (!isStillOpen()) return;
    try {
      const damage = yield* scrubTables(this.#path);
      if (damage !== undefined) throw corruption(damage);
    } catch (error) {
      if (isStillOpen()) throw this.failure('scrub', error);
    }
  }

  clear(): Promise<void> {
    return this.attempt('clear', async () => {
      await this.#takeEngine()?.close();
      await ClassicLevel.destroy(this.#path);
      this.#tableBytes = SMALLEST_TABLE_BYTES;
      await this.#openEngine();
    });
  }

  async close(): Promise<void> {
    this.#opening.abort(Object.assign(new Error('it is not open'), { code: 'LEVEL_DATABASE_NOT_OPEN' }));
    await this.attempt('close', async () => {
      await this.#closeEngine();
      await this.#folder.tightenFiles();
    });
  }

  async #openEngine(): Promise<void> {
    await this.#folder.make();
    await this.#fitTables();
    // A store that is open stays as it is.
    this.engine ??= new ClassicLevel<Buffer, Buffer>(this.#path, {
      ...ENCODINGS,
      cacheSize: CACHE_BYTES,
      writeBufferSize: this.#use === 'catching-up' ? CATCH_UP_BUFFER_BYTES : this.#followingBytes,
      // Hashes and amounts do not get smaller.
      compression: false,
      blockSize: BLOCK_BYTES,
      maxFileSize: this.#tableBytes
    });
    await this.engine.open();
    await this.#folder.tightenFiles();
  }

  /** Has the next engine write tables of a size that suits the store. Returns whether that is larger than before. */
  async #fitTables(): Promise<boolean> {
    const before = this.#tableBytes;
    this.#tableBytes = Math.max(before, suitedTableBytes(await bytesOfTables(this.#path)));
    return this.#tableBytes > before;
  }

  async #closeEngine(): Promise<void> {
    const engine = this.#takeEngine();
    // A write during what follows would go to a log behind an empty one, which looks like a log that lost its writes.
    await this.#writing;
    try {
      // Before LevelDB merges a range, even an empty one, it puts the latest writes into a table. Reading them from the
      // log at the next start would be six times the work.
      if (engine?.status === 'open') await engine.compactRange(BEHIND_ALL, BEHIND_ALL);
    } finally {
      await engine?.close();
    }
  }

  /** From now on the store is closed; the engine is the caller's to close. */
  #takeEngine(): DiskEngine | undefined {
    const { engine } = this;
    this.engine = this.#spareBatch = undefined;
    return engine;
  }
}

/**
 * The greatest size of a table, in bytes, for a store of so many bytes: a power of two. LevelDB keeps the thousand tables
 * open that were read last. With more of them, most lookups of a random key would open a table first, which takes longer than
 * the lookup itself. So tables grow with the store, and their number stays.
 */
export function suitedTableBytes(storeBytes: number): number {
  let bytes = SMALLEST_TABLE_BYTES;
  while (bytes < LARGEST_TABLE_BYTES && bytes * MOST_TABLES < storeBytes) bytes *= 2;
  return bytes;
}

/** The size of all tables in a folder; 0 when there is no such folder. */
async function bytesOfTables(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const tables = names.filter((name) => name.endsWith('.ldb'));
  // LevelDB may delete tables meanwhile.
  const sizes = await Promise.all(
    tables.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0
      )
    )
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** @throws the engine's error when another process has the folder or it must not be written. Nothing in it is read. */
async function requireLock(folder: string): Promise<void> {
  const engine = new ClassicLevel<Buffer, Buffer>(folder, { ...ENCODINGS, createIfMissing: false, errorIfExists: true });
  try {
    await engine.open();
  } catch (error) {
    // LevelDB takes the lock, then looks whether there is a database. With both options either answer is an error.
    if (!/error_if_exists is true|create_if_missing is false/.test(String((error as Error).cause))) throw error;
  } finally {
    await engine.close();
  }
}

function corruption(damage: string): Error {
  return Object.assign(new Error(damage), { code: 'LEVEL_CORRUPTION' });
}
