// A main index and an index by script over blocks that are given by hand, at the same block.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SnapshotReader } from '../../../lib/index/read/reader';
import { putBase } from '../../../lib/index/records/base';
import { putBaseCoin } from '../../../lib/index/records/base-coin';
import { ALL_COINS } from '../../../lib/index/records/coin-record';
import { putRecord, recordOf, WriteBuffer } from '../../../lib/index/records/layout';
import { IndexWriter } from '../../../lib/index/write/index-writer';
import { StoredScriptSnapshot } from '../../../lib/scripts/read/script-snapshot';
import { LooseScripts } from '../../../lib/scripts/records/loose-scripts';
import {
  firstKey,
  FURTHER_ROW_OVERHEAD,
  hashInRowKey,
  MOST_ROWS,
  RowCursor,
  writeFirstHead,
  writeFurther
} from '../../../lib/scripts/records/row';
import { ScriptWriter } from '../../../lib/scripts/write/script-writer';
import { DiskStore } from '../../../lib/store/disk-store';
import { MemoryStore } from '../../../lib/store/memory-store';
import type { Position } from '../../../lib/index/types';
import type { NodeCoin } from '../../../lib/node/types/coins';
import type { ScriptBlock } from '../../../lib/scripts/scan/rows';
import type { ScriptSnapshot } from '../../../lib/scripts/types';
import type { Store, StoreWrite } from '../../../lib/store/store';

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

  /** As if the index had been filled up to a height. */
  async group(height: number, most?: number): Promise<void> {
    await groupRows(this.store, height, most);
    await this.writer.load();
  }

  /** As if the main index had started from the node's coins at its tip. */
  async startFromCoins(coins: readonly NodeCoin[]): Promise<void> {
    const { height, hash } = await this.#reader.read((index) => Promise.resolve(index.tip));
    const writes: StoreWrite[] = [putBase({ height, hash, positionsFrom: 0, bytes: 0, ended: false })];
    for await (const [key] of this.#mainStore.range(ALL_COINS)) writes.push({ type: 'del', key });
    for (const coin of coins) writes.push(putBaseCoin(coin, new WriteBuffer()));
    await this.#mainStore.batch(writes, { durable: false });
    this.#reader.renew();
  }

  read<T>(use: (snapshot: ScriptSnapshot) => Promise<T>): Promise<T> {
    return this.#reader.read(async (index) => {
      const records = this.store.snapshot();
      try {
        const { changes, txids = expect.fail('txids'), loose = expect.fail('loose') } = this.writer;
        return await use(new StoredScriptSnapshot(records, index, { changes, txids: txids.view, loose }, (work) => work));
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

interface Group {
  readonly hash: Buffer;
  readonly start: Position;
  readonly key: Buffer;
  readonly isFirst: boolean;
  readonly rows: Buffer[];
}

/**
 * Packs rows of blocks up to a height into shared records, up to `most * 2 - 1` in each piece of bytes, as in a filled index. A writer must load
 * the store again.
 */
export async function groupRows(store: Store, height: number, most = MOST_ROWS): Promise<void> {
  const writes: StoreWrite[] = [];
  let group: Group | undefined;
  let last: Position = { height: 0, index: 0 };
  const flush = (hasMore: boolean): void => {
    if (group === undefined) return;
    const { key, hash, start, isFirst, rows } = group;
    const head = Buffer.alloc(FURTHER_ROW_OVERHEAD);
    if (isFirst)
      writes.push(putRecord(firstKey(hash), Buffer.concat([head.subarray(0, writeFirstHead(head, 0, start, !hasMore)), ...rows])));
    else writes.push(putRecord(key, Buffer.concat(rows)));
    group = undefined;
  };
  for await (const [key, value] of store.range({ gte: Buffer.from('s'), lt: Buffer.from('t') })) {
    const { height: of, index } = new RowCursor(key, value);
    if (of > height) continue;
    const row = recordOf(key, value);
    const hash = hashInRowKey(key);
    const isOfSame: boolean = group?.hash.equals(hash) === true;
    const isContinued = isOfSame && (group?.rows.length ?? 0) < most * 2 - 1;
    writes.push({ type: 'del', key });
    if (group !== undefined && isContinued) {
      const before = Buffer.alloc(FURTHER_ROW_OVERHEAD);
      group.rows.push(before.subarray(0, writeFurther(before, 0, of - last.height, index)), row);
    } else {
      flush(isOfSame);
      group = { hash, start: { height: of, index }, key, isFirst: !isOfSame, rows: [row] };
    }
    last = { height: of, index };
  }
  flush(false);
  for await (const [key] of store.range({ gte: Buffer.from('l'), lt: Buffer.from('m') })) writes.push({ type: 'del', key });
  writes.push(...LooseScripts.forChain(0).writes(Math.max(0, height + 1)));
  await store.batch(writes, { durable: false });
}
