// A store in a folder: LevelDB (classic-level), whose files are checked before it opens them.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { findDamage } from './leveldb-files/check';
import { scrubTables } from './leveldb-files/scrub';
import { ENCODINGS, inSlices, LevelStore, notOpen, notOpenError, type Engine } from './level-store';
import { StoreError } from './errors';
import { PageFile } from './page-file';
import { PrivateFolder } from '../system/private-folder';
import type { BatchOptions, KeyRange, OpeningProgress, ScrubbedPart, Store, StoreUse, StoreWrite } from './store';

/** LevelDB's cache, for tables that it does not map into memory: all after the first thousand. */
const CACHE_BYTES = 16 * 1_024 * 1_024;
/** LevelDB's write buffer while catching up, when other parts need the memory more. LevelDB may have two of them. */
const CATCH_UP_BUFFER_BYTES = 32 * 1_024 * 1_024;
/** After a crash this much is read from the log again, which takes some seconds. */
const LARGEST_BUFFER_BYTES = 192 * 1_024 * 1_024;
/** LevelDB writes each block of a table with a system call. With its default of 4 KiB these are a tenth of the work of catching up. */
const BLOCK_BYTES = 16 * 1_024;

/** LevelDB deletes merged tables while all reads and writes wait: the smaller the tables, the shorter the wait. */
const SMALLEST_TABLE_BYTES = 2 * 1_024 * 1_024;
/** The largest tables that LevelDB makes. */
const LARGEST_TABLE_BYTES = 1_024 * 1_024 * 1_024;
/** Of the thousand tables that LevelDB keeps open. The rest is for older tables, which become larger only when they are merged. */
const MOST_TABLES = 600;

/** The file of the pages, which LevelDB leaves alone. It exists once a page was written. */
const PAGES_NAME = 'PAGES';

/** After all keys. */
const BEHIND_ALL = Buffer.from([0xff]);

export interface DiskStoreOptions {
  /**
   * Bytes of LevelDB's write buffer while the store follows, from 32 to 192 MiB. A full buffer is soon merged through all
   * levels, which rewrites most of the store: the larger the buffer, the less often.
   */
  readonly latestBytes?: number;
  /** `open` checks only tables that may have keys in this range, and `scrub` all of them; unless given, `open` checks all. */
  readonly checkedFirst?: KeyRange | undefined;
}

/** What classic-level has beyond the interface of all engines. */
interface DiskEngine extends Engine {
  batch(): unknown;
  compactRange(start: Buffer, end: Buffer): Promise<void>;
}

/**
 * The half of a batch that classic-level implements for abstract-level. The public half checks and copies each write for
 * encodings, hooks and events that are not used here: that takes 3 µs for a write of half a microsecond.
 */
interface BareBatch {
  _put(key: Buffer, value: Buffer): void;
  _del(key: Buffer): void;
  _clear(): void;
  _write(options: { readonly sync: boolean }): Promise<void>;
}

/** A store in its own folder, which is created if it is missing, and which only its owner can read. */
export class DiskStore extends LevelStore<DiskEngine> implements Store {
  readonly pages: PageFile;
  readonly #path: string;
  readonly #folder: PrivateFolder;
  /** Memory for the latest writes while the store follows. */
  readonly #followingBytes: number;
  readonly #checkedFirst: KeyRange | undefined;
  #use: StoreUse = 'following';
  #tableBytes = SMALLEST_TABLE_BYTES;
  /** Aborted by `close`; another one when the store is opened again. */
  #closing = new AbortController();
  /**
   * A batch of the open engine, kept for reuse: only the garbage collector would free its tens of megabytes, and it does not see
   * their size.
   */
  #spareBatch: BareBatch | undefined;
  /** Resolves when no batch is being written. Never rejects. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(path: string, { latestBytes = 0, checkedFirst }: DiskStoreOptions = {}) {
    super(path);
    this.#path = path;
    this.pages = new PageFile(join(path, PAGES_NAME), (action, error) => this.failure(action, error));
    this.#folder = new PrivateFolder(path);
    this.#checkedFirst = checkedFirst;
    this.#followingBytes = Math.min(Math.max(latestBytes, CATCH_UP_BUFFER_BYTES), LARGEST_BUFFER_BYTES);
  }

  open(onProgress: (progress: OpeningProgress) => void = () => undefined): Promise<void> {
    return this.attempt('open', async () => {
      const { signal } = (this.#closing = new AbortController());
      const damage = await findDamage(this.#path, { onProgress, signal, within: this.#checkedFirst });
      signal.throwIfAborted();
      if (damage === undefined) return this.#openEngine(signal);
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
        // `_write` would call LevelDB even if it is closed.
        if (engine.status !== 'open') notOpen();
        await batch._write({ sync: durable });
      } finally {
        batch._clear();
        if (engine === this.engine) this.#spareBatch = batch;
      }
      // A batch that is not durable is one of many: the folder is not read after each of them.
      if (durable) await this.#folder.tightenFiles();
    });
    // Without the results, which would hold those of all batches before.
    this.#writing = Promise.allSettled([this.#writing, written]).then(() => undefined);
    return written;
  }

  prepareFor(use: StoreUse): Promise<void> {
    return this.attempt('open', async () => {
      this.requireOpen();
      if (use === this.#use && !(await this.#fitTables())) return;
      this.requireOpen();
      this.#use = use;
      const { signal } = this.#closing;
      await this.#closeEngine();
      await this.#openEngine(signal);
    });
  }

  async *scrub(): AsyncGenerator<ScrubbedPart> {
    const { engine } = this;
    const isStillOpen = (): boolean => engine?.status === 'open' && engine === this.engine;
    if (!isStillOpen()) return;
    try {
      const damage = yield* scrubTables(this.#path, () => this.pages.size);
      if (damage !== undefined) throw corruption(damage);
      yield* this.pages.scrub(await bytesOfTables(this.#path));
    } catch (error) {
      // While the store was not open, files may have been missing for good reasons.
      const reason = isStillOpen() ? error : notOpenError();
      throw reason instanceof StoreError ? reason : this.failure('scrub', reason);
    }
  }

  clear(): Promise<void> {
    return this.attempt('clear', async () => {
      const { signal } = (this.#closing = new AbortController());
      await this.#takeEngine()?.close();
      await this.pages.remove();
      await ClassicLevel.destroy(this.#path);
      this.#tableBytes = SMALLEST_TABLE_BYTES;
      await this.#openEngine(signal);
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(notOpenError());
    await this.attempt('close', async () => {
      await this.pages.close();
      await this.#closeEngine();
      await this.#folder.tightenFiles();
    });
  }

  /** `signal`: of the store that is being opened. @throws its reason if it was closed meanwhile */
  async #openEngine(signal: AbortSignal): Promise<void> {
    await this.#folder.make();
    await this.#fitTables();
    signal.throwIfAborted();
    // An engine that exists stays as it is.
    this.engine ??= new ClassicLevel<Buffer, Buffer>(this.#path, {
      ...ENCODINGS,
      cacheSize: CACHE_BYTES,
      writeBufferSize: this.#use === 'catching-up' ? CATCH_UP_BUFFER_BYTES : this.#followingBytes,
      // Hashes and amounts do not compress.
      compression: false,
      blockSize: BLOCK_BYTES,
      maxFileSize: this.#tableBytes
    });
    await this.engine.open();
    await this.#folder.tightenFiles();
    // It may have been closed while it opened.
    signal.throwIfAborted();
    this.pages.open();
  }

  /** Sets the size of tables that the next engine writes to one that suits the store. Returns whether it is larger than before. */
  async #fitTables(): Promise<boolean> {
    const before = this.#tableBytes;
    this.#tableBytes = Math.max(before, suitedTableBytes(await bytesOfTables(this.#path)));
    return this.#tableBytes > before;
  }

  async #closeEngine(): Promise<void> {
    const engine = this.#takeEngine();
    // A write during the compaction would go to a log after an empty one, which would look like a log that lost its writes.
    await this.#writing;
    try {
      // Before LevelDB merges a range, even an empty one, it writes the latest writes to a table. Reading them from the
      // log at the next start would be six times the work.
      if (engine?.status === 'open') await engine.compactRange(BEHIND_ALL, BEHIND_ALL);
    } finally {
      await engine?.close();
    }
  }

  /** Leaves the store closed; the caller must close the engine. */
  #takeEngine(): DiskEngine | undefined {
    const { engine } = this;
    this.engine = this.#spareBatch = undefined;
    return engine;
  }
}

/**
 * The greatest size of a table, in bytes, for a store of `storeBytes`: a power of two. LevelDB keeps the thousand tables
 * open that were read last. With more tables, most lookups of a random key would open a table first, which takes longer than
 * the lookup itself. So tables grow with the store, and their number stays about the same.
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

/** @throws the engine's error when another process uses the folder or it must not be written. Reads nothing in it. */
async function requireLock(folder: string): Promise<void> {
  const engine = new ClassicLevel<Buffer, Buffer>(folder, { ...ENCODINGS, createIfMissing: false, errorIfExists: true });
  try {
    await engine.open();
  } catch (error) {
    // LevelDB takes the lock, then checks whether there is a database. With both options either answer is an error.
    if (!/error_if_exists is true|create_if_missing is false/.test(String((error as Error).cause))) throw error;
  } finally {
    await engine.close();
  }
}

function corruption(damage: string): Error {
  return Object.assign(new Error(damage), { code: 'LEVEL_CORRUPTION' });
}
