// A main index and an index by script over blocks that are given by hand, at the same block.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SnapshotReader } from '../../lib/index/read/reader';
import { putRecord, recordOf } from '../../lib/index/records/layout';
import { IndexWriter } from '../../lib/index/write/index-writer';
import { StoredScriptSnapshot } from '../../lib/scripts/read/script-snapshot';
import { MOST_ROWS, positionInKey, writeFurther } from '../../lib/scripts/records/row';
import { ScriptWriter } from '../../lib/scripts/write/script-writer';
import { DiskStore } from '../../lib/store/disk-store';
import { MemoryStore } from '../../lib/store/memory-store';
import type { Position } from '../../lib/index/types';
import type { ScriptBlock } from '../../lib/scripts/scan/rows';
import type { ScriptSnapshot } from '../../lib/scripts/types';
import type { Store, StoreWrite } from '../../lib/store/store';

const UNDO_DEPTH = 1_000;

export class ScriptIndex {
  readonly #main: IndexWriter;
  readonly #reader: SnapshotReader;
  readonly #mainStore: Store;

  private constructor(
    readonly writer: ScriptWriter,
    readonly store: Store,
    genesisHash: Buffer,
    private readonly folder: string | undefined
  ) {
    this.#mainStore = new MemoryStore();
    this.#main = new IndexWriter({
      store: this.#mainStore,
      genesisHash,
      undoDepth: UNDO_DEPTH,
      onMove: () => this.#reader.renew()
    });
    this.#reader = new SnapshotReader(this.#mainStore, () => undefined);
  }

  /** Opens empty indexes; `disk`: whether the index by script is on disk. */
  static async open(genesisHash: Buffer, { disk = false, undoDepth = UNDO_DEPTH } = {}): Promise<ScriptIndex> {
    const folder = disk ? await mkdtemp(join(tmpdir(), 'rest-scripts-')) : undefined;
    const store = folder === undefined ? new MemoryStore() : new DiskStore(folder);
    await store.open();
    const writer = new ScriptWriter({ store, genesisHash, undoDepth });
    await writer.load();
    const index = new ScriptIndex(writer, store, genesisHash, folder);
    await index.#mainStore.open();
    await index.#main.load();
    return index;
  }

  /** Connects blocks, some to a batch. */
  async connect(blocks: readonly ScriptBlock[], together = 50): Promise<void> {
    for (const { raw } of blocks) await this.#main.apply(raw);
    for (let at = 0; at < blocks.length; at += together) await this.writer.connect(blocks.slice(at, at + together));
  }

  async disconnect(): Promise<void> {
    await this.#main.undo();
    await this.writer.disconnect();
  }

  read<T>(use: (snapshot: ScriptSnapshot) => Promise<T>): Promise<T> {
    return this.#reader.read(async (index) => {
      const records = this.store.snapshot();
      try {
        const { changes, txids = expect.fail('txids') } = this.writer;
        return await use(new StoredScriptSnapshot(records, index, { changes, txids: txids.view }, (work) => work));
      } finally {
        records.close();
      }
    });
  }

  async close(): Promise<void> {
    this.#reader.close();
    await this.#main.close();
    await Promise.all([this.#mainStore.close(), this.store.close()]);
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true });
  }
}

/** Packs rows of blocks up to a height into shared records, up to `most` in each, as in a filled index. */
export async function groupRows(store: Store, height: number, most = MOST_ROWS): Promise<void> {
  const writes: StoreWrite[] = [];
  let key: Buffer | undefined;
  let rows: Buffer[] = [];
  let last: Position = { height: 0, index: 0 };
  const flush = (): void => {
    if (key !== undefined) writes.push(putRecord(key, Buffer.concat(rows)));
    [key, rows] = [undefined, []];
  };
  for await (const [rowKey, value] of store.range({ gte: Buffer.from('s'), lt: Buffer.from('t') })) {
    const position = positionInKey(rowKey);
    if (position.height > height) continue;
    const row = recordOf(rowKey, value);
    if (key?.subarray(0, 11).equals(rowKey.subarray(0, 11)) !== true || rows.length >= most * 2 - 1) flush();
    if (key === undefined) [key, rows] = [rowKey, [row]];
    else {
      const before = Buffer.alloc(16);
      rows.push(before.subarray(0, writeFurther(before, 0, position.height - last.height, position.index)), row);
      writes.push({ type: 'del', key: rowKey });
    }
    last = position;
  }
  flush();
  await store.batch(writes, { durable: false });
}
