// The two kinds of stores: LevelDB in a folder (classic-level) and a sorted tree in memory
// (memory-level), with what they are set to.

import { ClassicLevel } from 'classic-level';
import { MemoryLevel } from 'memory-level';
import { LevelStore } from './level-adapter';
import { bareBatches, copyingBatch } from './level-batch';
import { findDamage } from './leveldb-files/check';
import { encodings, type Engine, type EngineKind } from './level-engine';
import { scrubTables } from './leveldb-files/scrub';
import { bytesOfTables, tableBytes } from './level-table-size';
import { PrivateFolder } from './private-folder';
import type { Store, StoreUse } from './store';

interface CompactableEngine {
  compactRange(start: Buffer, end: Buffer): Promise<void>;
}

const BEHIND_ALL_KEYS = { gte: Buffer.from([0xff]), lt: Buffer.from([0xff]) };

/** For blocks of tables that are not mapped into memory: from the thousandth table on. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** For writes that are not in a table yet, twice, while others need the memory more. */
const FILLING_BUFFER_BYTES = 32 * 1024 * 1024;
/** After a crash so much is read from the log again, which takes some seconds. */
const LARGEST_BUFFER_BYTES = 192 * 1024 * 1024;
/** LevelDB writes each block of a table with a call of its own: of 4 KiB, its own size, these are a tenth of the work of catching up. */
const BLOCK_BYTES = 16 * 1024;

export interface DiskStoreOptions {
  /**
   * Memory for the latest writes while the store follows, from 32 to 192 MiB. When it is full it goes through all
   * levels before long, which writes most of the store again: the larger it is, the less often.
   */
  readonly latestBytes?: number;
}

/** A store in a folder of its own, which is made when it is missing, and is its owner's alone. */
export function diskStore(folder: string, { latestBytes = 0 }: DiskStoreOptions = {}): Store {
  const followingBytes = Math.min(Math.max(latestBytes, FILLING_BUFFER_BYTES), LARGEST_BUFFER_BYTES);
  const privately = new PrivateFolder(folder);
  let maxFileSize = tableBytes(0);
  const make = (use: StoreUse): Engine => new ClassicLevel<Buffer, Buffer>(folder, {
    ...encodings,
    cacheSize: CACHE_BYTES,
    writeBufferSize: use === 'catching-up' ? FILLING_BUFFER_BYTES : followingBytes,
    // Hashes and amounts do not get smaller.
    compression: false,
    blockSize: BLOCK_BYTES,
    maxFileSize
  });
  return new LevelStore({
    name: folder,
    make,
    fitTables: async () => {
      const bytes = tableBytes(await bytesOfTables(folder));
      const isLarger = bytes > maxFileSize;
      if (isLarger) maxFileSize = bytes;
      return isLarger;
    },
    isKept: true,
    close: async (engine) => {
      try {
        // Before LevelDB compacts a range, be it empty, it puts the latest writes into a table: a sixth of the work of reading them from the log.
        if (engine.status === 'open') await compact(engine, BEHIND_ALL_KEYS);
      } finally {
        await engine.close();
      }
    },
    batch: bareBatches(),
    empty: async (engine) => {
      await engine?.close();
      await ClassicLevel.destroy(folder);
      maxFileSize = tableBytes(0);
    },
    findDamage: (options) => findDamage(folder, options),
    requireOurs: () => requireLock(folder),
    makeFolder: () => privately.make(),
    tightenFiles: () => privately.tightenFiles(),
    scrub: () => scrubTables(folder),
    compact
  });
}

const compact: EngineKind['compact'] = (engine, { gte, lt }) => (engine as Engine & CompactableEngine).compactRange(gte, lt); // every engine on disk has it

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
    fitTables: () => Promise.resolve(false),
    isKept: false,
    close: (engine) => engine.close(),
    batch: copyingBatch,
    empty: async (engine) => engine?.clear(),
    findDamage: () => Promise.resolve(undefined),
    requireOurs: () => Promise.resolve(),
    makeFolder: () => Promise.resolve(),
    tightenFiles: () => Promise.resolve(),
    scrub: undefined,
    compact: () => Promise.resolve()
  });
}
