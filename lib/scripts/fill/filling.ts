// Fills an empty index by script, in two steps. First, block by block, rows are written to partition files by the hashes of their
// scripts, and txids to the pages of the store. Then each file in turn is sorted and written to the store, where its records follow all earlier ones:
// LevelDB moves tables that come in order down its levels without rewriting them.
//
// The record 'F' says how far the filling is. It is written once everything that it counts is on the disk; data that it does not count
// is cut off when a filling is resumed. The tip is written in the batch that deletes 'F': a store with a tip is filled.

import { DamagedIndexError } from '../../follow/errors';
import { putTip, TIP_KEY } from '../../index/records/chain';
import { GENESIS_KEY, putRecord, recordOf } from '../../index/records/layout';
import { newSecret } from '../../index/records/txid-hash';
import { StoreError } from '../../store/errors';
import { storedVersion, versionRecord } from '../../store/migrate';
import { PrivateFolder } from '../../system/private-folder';
import { runAtOnce } from '../../turns/slices';
import { findFilling, putFilling, type FillingProgress } from '../records/filling';
import { FILLING_KEY, LAYOUT_VERSION } from '../records/layout';
import { LooseScripts } from '../records/loose-scripts';
import { ScriptHasher } from '../records/script-hasher';
import { scriptRows, type ScriptBlock } from '../scan/rows';
import { TxidTable } from '../txids/txid-table';
import { groupedRows } from './grouped-rows';
import { PartitionFiles, removeFillingFiles } from './partition-files';
import { RowSorter } from './row-order';
import type { BlockPoint } from '../../node/types/chain';
import type { Store, StoreWrite } from '../../store/store';
import type { TxidAddition } from '../txids/txid-addition';

/** Sizes; only tests change them. */
export interface FillingSizes {
  /** Number of partition files, a power of two. The buffers of 1,024 take 64 MiB. */
  readonly files: number;
  /** Bytes of rows, or blocks, after which a checkpoint follows; whichever comes first. A crash loses at most this much. */
  readonly checkpointBytes: number;
  readonly checkpointBlocks: number;
  /** Bytes between checkpoints while files are sorted. There should be few: LevelDB merges tables with 'F' with all that they overlap. */
  readonly sortedBytes: number;
  /** Bytes of rows that are sorted in memory at once. */
  readonly sortBytes: number;
}

/** With these, a partition file of the main network has 140 MB. */
export const FILLING_SIZES: FillingSizes = {
  files: 1_024,
  checkpointBytes: 256 * 1_024 * 1_024,
  checkpointBlocks: 10_000,
  sortedBytes: 1_024 * 1_024 * 1_024,
  sortBytes: 192 * 1_024 * 1_024
};

/** Size of a batch. */
const BATCH_BYTES = 1_024 * 1_024;

export interface FillingOptions {
  /** Must be closed. */
  readonly store: Store;
  /** Folder of the partition files. */
  readonly filesPath: string;
  readonly genesisHash: Buffer;
  /** Whether to start over instead of resuming an interrupted filling. */
  readonly fromScratch: boolean;
  readonly sizes: FillingSizes;
  /** Called often. An error that it throws ends the filling. */
  readonly throwIfStopped: () => void;
}

export class ScriptFilling {
  /** The damage, if an interrupted filling could not be resumed because of it. */
  readonly damage: string | undefined;
  readonly #options: FillingOptions;
  readonly #store: Store;
  readonly #hasher: ScriptHasher;
  readonly #files: PartitionFiles;
  #step: FillingProgress['step'];
  #at: BlockPoint | undefined;
  #loaded: number;
  readonly #txids: TxidTable;
  /** The txids of blocks since the last checkpoint. */
  #newTxids: TxidAddition;
  /** Blocks and bytes since the last checkpoint. */
  #newBlocks = 0;
  #newBytes = 0;

  private constructor(
    options: FillingOptions,
    { step, at, loaded, lengths }: FillingProgress,
    txids: TxidTable,
    damage: string | undefined
  ) {
    const { store, filesPath } = options;
    this.damage = damage;
    this.#options = options;
    this.#store = store;
    this.#hasher = ScriptHasher.of(store);
    this.#files = new PartitionFiles(filesPath, this.#hasher.secret, lengths);
    this.#txids = txids;
    this.#newTxids = txids.add();
    this.#step = step;
    this.#at = at;
    this.#loaded = loaded;
  }

  /**
   * Opens the store, and resumes an interrupted filling; anything else in the store is deleted.
   * @throws StoreError, Error of the file system
   */
  static async open(options: FillingOptions): Promise<ScriptFilling> {
    let damage: string | undefined;
    try {
      const progress = options.fromScratch ? undefined : await resumed(options);
      if (progress !== undefined) return new ScriptFilling(options, progress, await resumedTxids(options, progress), undefined);
    } catch (error) {
      if (!isDamageOfFilling(error)) throw error;
      damage = error.message;
    }
    const { store, filesPath, genesisHash, sizes } = options;
    await store.clear();
    removeFillingFiles(filesPath);
    await new PrivateFolder(filesPath).make();
    await store.prepareFor('catching-up');
    const progress: FillingProgress = {
      step: 'partitioning',
      at: undefined,
      loaded: 0,
      lengths: Array.from({ length: sizes.files }, () => 0)
    };
    await store.batch([versionRecord(LAYOUT_VERSION), putRecord(GENESIS_KEY, genesisHash), newSecret(), putFilling(progress)], {
      durable: true
    });
    return new ScriptFilling(options, progress, await TxidTable.load(store, 0), damage);
  }

  /** The content for 'F'. */
  get progress(): FillingProgress {
    return { step: this.#step, at: this.#at, loaded: this.#loaded, lengths: this.#files.lengths };
  }

  /** Adds the next block. @throws as scriptRows; StoreError, Error of the file system */
  async take(block: ScriptBlock): Promise<void> {
    this.#options.throwIfStopped();
    const rows = runAtOnce(scriptRows(block, this.#hasher));
    this.#newBytes += this.#files.add(rows);
    this.#newBlocks++;
    this.#at = rows.point;
    this.#newTxids.take(rows.txids);
    const { checkpointBlocks, checkpointBytes } = this.#options.sizes;
    if (this.#newBlocks >= checkpointBlocks || this.#newBytes >= checkpointBytes) await this.#checkpoint();
    else if (this.#newTxids.bytes >= BATCH_BYTES) await this.#newTxids.write();
  }

  /** After the last block: sorts the files into the store. @throws DamagedIndexError, StoreError, Error of the file system */
  async sort(onFile: (done: number, total: number) => void): Promise<void> {
    if (this.#step === 'partitioning') {
      this.#step = 'sorting';
      await this.#checkpoint();
    }
    this.#files.release();
    const { lengths } = this.#files;
    const sorter = new RowSorter(this.#options.sizes.sortBytes);
    let bytes = 0;
    for (let file = this.#loaded; file < lengths.length; file++) {
      onFile(file, lengths.length);
      await this.#load(file, sorter);
      bytes += lengths[file] ?? 0;
      if (bytes < this.#options.sizes.sortedBytes && file + 1 < lengths.length) continue;
      await this.#checkpointSorted(file + 1);
      bytes = 0;
    }
    onFile(lengths.length, lengths.length);
  }

  /** Writes the tip, which completes the index, and removes the files. @throws StoreError, Error of the file system */
  async finish(): Promise<void> {
    if (this.#at === undefined || this.#loaded < this.#files.lengths.length)
      throw new Error('expected a filling whose files are in the store');
    // No script has loose rows.
    const loose = LooseScripts.forChain(this.#txids.transactions).writes(this.#at.height + 1);
    await this.#store.batch([...loose, putTip(this.#at), { type: 'del', key: FILLING_KEY }], { durable: true });
    removeFillingFiles(this.#options.filesPath);
  }

  /** Interrupts the filling. */
  close(): Promise<void> {
    return this.#store.close();
  }

  /** Makes all blocks added so far survive a crash. */
  async #checkpoint(): Promise<void> {
    this.#options.throwIfStopped();
    this.#files.force();
    const txids = this.#newTxids;
    await txids.sync();
    await this.#store.batch([...txids.writes(), putFilling(this.progress)], { durable: true });
    txids.commit();
    this.#newTxids = this.#txids.add();
    [this.#newBlocks, this.#newBytes] = [0, 0];
    // The store may have grown enough for larger tables.
    await this.#store.prepareFor('catching-up');
  }

  /** Makes the rows of the first `files` files survive a crash in the store, then removes these files. */
  async #checkpointSorted(files: number): Promise<void> {
    const before = this.#loaded;
    this.#loaded = files;
    await this.#store.batch([putFilling(this.progress)], { durable: true });
    for (let file = before; file < files; file++) this.#files.remove(file);
    await this.#store.prepareFor('catching-up');
  }

  async #load(file: number, sorter: RowSorter): Promise<void> {
    const { throwIfStopped } = this.#options;
    const pieces = stoppable(this.#files.pieces(file), throwIfStopped);
    const length = this.#files.lengths[file] ?? 0;
    const writes = groupedRows(sorter.sort(pieces, length, this.#files.bits, (number) => this.#files.run(file, number)));
    for (let next = writes.next(); next.done !== true; next = writes.next()) {
      throwIfStopped();
      await this.#store.batch(someOf(next.value, writes), { durable: false });
    }
  }
}

/**
 * Opens the store and prepares to resume an interrupted filling; undefined: there is none. @throws DamagedIndexError, StoreError,
 * Error of the file system
 */
async function resumed({ store, filesPath, genesisHash }: FillingOptions): Promise<FillingProgress | undefined> {
  await store.open();
  if ((await storedVersion(store)) !== LAYOUT_VERSION) return undefined;
  const genesis = store.get(GENESIS_KEY);
  const progress = findFilling(store);
  if (progress === undefined || genesis === undefined || store.get(TIP_KEY) !== undefined) return undefined;
  if (!recordOf(GENESIS_KEY, genesis).equals(genesisHash)) return undefined;
  await store.prepareFor('catching-up');
  await new PrivateFolder(filesPath).make();
  new PartitionFiles(filesPath, ScriptHasher.of(store).secret, progress.lengths).cut(progress.loaded);
  return progress;
}

/** The txids of an interrupted filling. @throws DamagedIndexError, StoreError */
async function resumedTxids({ store }: FillingOptions, { at }: FillingProgress): Promise<TxidTable> {
  const txids = await TxidTable.load(store, at === undefined ? 0 : at.height + 1);
  await txids.cut();
  await txids.check();
  return txids;
}

/** Whether an error says that the filling must start over. */
export function isDamageOfFilling(error: unknown): error is DamagedIndexError | StoreError {
  return error instanceof DamagedIndexError || (error instanceof StoreError && error.reason === 'corrupt');
}

function* stoppable(pieces: Iterable<Buffer>, throwIfStopped: () => void): Generator<Buffer, void> {
  for (const piece of pieces) {
    throwIfStopped();
    yield piece;
  }
}

/** A batch: a write, and as many of the following ones as fit. */
function* someOf(first: StoreWrite, others: Iterator<StoreWrite, void>): Generator<StoreWrite, void> {
  let bytes = 0;
  for (let write: StoreWrite = first; ;) {
    bytes += write.key.length + (write.type === 'put' ? write.value.length : 0);
    yield write;
    if (bytes >= BATCH_BYTES) return;
    const next = others.next();
    if (next.done === true) return;
    write = next.value;
  }
}
