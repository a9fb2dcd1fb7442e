// The txids of all transactions, in the order of the chain, in the pages of the store. The records say how many there are, and have those of
// the last page until it is full: so a page is written once, before the batch that counts it, and a kill leaves at worst pages that do not
// count yet.
//
// Single blocks are written without waiting for the disk, as their records are. Now and then the pages are synced, and a record says up to
// which block. After a power cut the txids of later blocks are compared with their checksums in the records.

import { setImmediate } from 'node:timers/promises';
import { TXID_LENGTH } from '../../bitcoin/transaction';
import { DamagedIndexError, errorOf } from '../../follow/errors';
import { damaged } from '../../index/records/layout';
import { StoreError } from '../../store/errors';
import { DamagedPageError, PAGE_LENGTH } from '../../store/pages';
import { Slice } from '../../turns/slices';
import { BlockGroup, GROUP_BLOCKS, groupKey, lastPageIn, putGroup, putLastPage, putSynced, syncedIn } from '../records/block-txids';
import { packed } from '../records/positions';
import { PAGE_TXIDS, TransactionNumbers } from './transaction-numbers';
import { TxidAddition } from './txid-addition';
import { Era, TxidView } from './txid-view';
import type { Store, StorePut, StoreWrite } from '../../store/store';

/** The pages are synced after this many blocks or bytes: no more is read again when the store is opened. */
const SYNC_BLOCKS = 144;
const SYNC_BYTES = 32 * 1_024 * 1_024;

/** Bytes of pages that are written together during a repair. */
const REPAIRED_TOGETHER = 1_024 * 1_024;

/** The removal of a block. To be committed once the batch with its writes is in the store. */
export interface TxidRemoval {
  readonly writes: readonly StoreWrite[];
  /** Whether the batch has to be on the disk before anything else is written. */
  readonly durable: boolean;
  commit(): void;
}

export class TxidTable {
  readonly #store: Store;
  readonly #numbers = new TransactionNumbers();
  #group = BlockGroup.after(0);
  #lastPage: Buffer = Buffer.alloc(0);
  #era = new Era();
  #view: TxidView | undefined;
  /** How many blocks are on the disk, and how many are according to the record. */
  #synced = 0;
  #recorded = 0;
  /** Blocks and bytes since the last sync was begun. */
  #newBlocks = 0;
  #newBytes = 0;
  /** A sync that is in progress: how many blocks will then be on the disk. */
  #syncing: { blocks: number } | undefined;
  /** Why the pages could not be synced. */
  #failure: Error | undefined;

  private constructor(store: Store) {
    this.#store = store;
  }

  /**
   * The table of an open store, in which it must have this number of blocks.
   * @throws DamagedIndexError, StoreError
   */
  static async load(store: Store, blocks: number): Promise<TxidTable> {
    const table = new TxidTable(store);
    await table.#load();
    if (table.blocks !== blocks) throw new DamagedIndexError(`expected the txids of ${blocks} blocks, got those of ${table.blocks}`);
    return table;
  }

  /** Number of blocks, from the genesis block up. */
  get blocks(): number {
    return this.#numbers.blocks;
  }

  /** The last txids, which do not fill a page. */
  get lastPage(): Buffer {
    return this.#lastPage;
  }

  /** Number of transactions. */
  get transactions(): number {
    return this.#numbers.total;
  }

  /** The present state, which stays as it is when blocks come and go. */
  get view(): TxidView {
    const lastPage = { from: this.#wholePages * PAGE_TXIDS, txids: this.#lastPage };
    const { pages } = this.#store;
    return (this.#view ??= new TxidView({ numbers: this.#numbers, pages, blocks: this.blocks, lastPage, era: this.#era }));
  }

  /** Whether these are the txids of the block at a height, according to the records. @throws DamagedIndexError */
  hasTxids(height: number, txids: Buffer): boolean {
    return this.#groupOf(height).has(height % GROUP_BLOCKS, txids);
  }

  /** The txids of the last page before the block at a height up to `blocks`. @throws DamagedPageError */
  lastPageBefore(height: number): Buffer {
    const end = this.#numbers.below(height);
    const positions: number[] = [];
    for (let number = end - (end % PAGE_TXIDS); number < end; number++) {
      const at = this.#numbers.heightOf(number);
      positions.push(packed(at, number - this.#numbers.below(at)));
    }
    return this.view.now(positions);
  }

  /** Removes pages that do not count: a kill or a power cut may have left parts of some. To be called before blocks are added. */
  async cut(): Promise<void> {
    await this.#store.pages.cut(this.#wholePages);
  }

  /** To add blocks on top; one addition at a time. @throws StoreError when earlier ones did not reach the disk */
  add(): TxidAddition {
    if (this.#failure !== undefined) throw this.#failure;
    const [group, lastPage, transactions] = [this.#group, this.#lastPage, this.#numbers.total];
    return new TxidAddition(this.#store.pages, { blocks: this.blocks, transactions, group, lastPage }, this.#added);
  }

  /** What to write with the next batch to record what has reached the disk. */
  noteSynced(): StorePut[] {
    if (this.#synced === this.#recorded) return [];
    this.#recorded = this.#synced;
    return [putSynced(this.#synced)];
  }

  /** Removes the last block. `lastPage`: as it was before the block (lib/scripts/records/undo-record.ts). @throws DamagedIndexError */
  remove(lastPage: Buffer): TxidRemoval {
    const height = this.blocks - 1;
    requireLastPage(lastPage, this.#numbers.below(height));
    const group = this.#groupOf(height).withoutLast();
    const writes = [
      group.blocks === 0 ? ({ type: 'del', key: groupKey(height) } as const) : putGroup(height, group),
      putLastPage(lastPage)
    ];
    // Other txids will be written where these are. The record must not call them synced any more, even after a power cut.
    const durable = this.#recorded > height;
    if (durable) writes.push(putSynced(height));
    return {
      writes,
      durable,
      commit: () => {
        this.#removed(height, lastPage);
        this.#group = group;
      }
    };
  }

  /**
   * Looks whether all pages are there, and compares the txids of blocks that may not have reached the disk. Damage elsewhere is found when
   * it is read. @throws DamagedPageError
   */
  async check(): Promise<void> {
    const count = this.#store.pages.count();
    if (count < this.#wholePages) throw new DamagedPageError(`page ${count} of the txids is missing`, count);
    const slice = new Slice();
    for (let height = this.#synced; height < this.blocks; height++) {
      const page = Math.floor(this.#numbers.below(height) / PAGE_TXIDS);
      if (!this.hasTxids(height, this.view.ofBlock(height)))
        throw new DamagedPageError(`page ${page} of the txids has others than the block at height ${height}`, page);
      if (slice.isOver()) await setImmediate();
    }
  }

  /**
   * Writes a damaged page again, and what is damaged right after it. `txidsOf`: the concatenated txids of the block at a height, from the node.
   * @throws DamagedIndexError when these are not the block's according to the records, and what `txidsOf` throws
   */
  async repair(page: number, txidsOf: (height: number) => Promise<Buffer>): Promise<void> {
    const { pages } = this.#store;
    let next = Math.min(page, pages.count());
    if (next >= this.#wholePages) return;
    const first = next * PAGE_TXIDS;
    const begun = this.#numbers.heightOf(first);
    /** Txids that are not written yet, from the beginning of page `next` on. */
    let some: Buffer[] = [];
    let length = 0;
    const write = async (): Promise<void> => {
      const bytes = Buffer.concat(some);
      const whole = bytes.length - (bytes.length % PAGE_LENGTH);
      await pages.write(next, bytes.subarray(0, whole));
      next += whole / PAGE_LENGTH;
      some = [bytes.subarray(whole)];
      length = bytes.length - whole;
    };
    const isOver = (height: number): boolean => this.#numbers.below(height) >= first + PAGE_TXIDS && this.#isThere(height);
    for (let height = begun; height < this.blocks && !isOver(height); height++) {
      const txids = await txidsOf(height);
      if (!this.hasTxids(height, txids))
        throw damaged(groupKey(height), `the checksum of the txids of the block at height ${height}`, 'another one');
      const own = height === begun ? txids.subarray((first - this.#numbers.below(begun)) * TXID_LENGTH) : txids;
      some.push(own);
      if ((length += own.length) >= REPAIRED_TOGETHER) await write();
    }
    await write();
    await pages.sync();
  }

  async #load(): Promise<void> {
    for await (const [key, value] of this.#store.range({ gte: groupKey(0), lt: groupKey(0xffff_ffff) })) {
      const { blocks } = this;
      const group = BlockGroup.of(key, value);
      if (!key.equals(groupKey(blocks)) || blocks % GROUP_BLOCKS !== 0) throw damaged(key, `that of height ${blocks}`, 'another one');
      if (group.below !== this.#numbers.total) throw damaged(key, `${this.#numbers.total} transactions below`, `${group.below}`);
      for (let block = 0; block < group.blocks; block++) this.#numbers.push(group.transactions(block));
      this.#group = group;
    }
    this.#lastPage = Buffer.from(lastPageIn(this.#store));
    requireLastPage(this.#lastPage, this.#numbers.total);
    this.#synced = this.#recorded = syncedIn(this.#store);
  }

  /** Number of pages that are full. */
  get #wholePages(): number {
    return Math.floor(this.#numbers.total / PAGE_TXIDS);
  }

  /** The group of the block at a height. @throws DamagedIndexError */
  #groupOf(height: number): BlockGroup {
    if (height >= this.blocks - this.#group.blocks) return this.#group;
    const key = groupKey(height);
    const value = this.#store.get(key);
    if (value === undefined) throw damaged(key, 'the numbers of transactions of blocks', 'none');
    return BlockGroup.of(key, value);
  }

  /** Whether the pages have the txids of the block at a height. */
  #isThere(height: number): boolean {
    try {
      return this.hasTxids(height, this.view.ofBlock(height));
    } catch (error) {
      if (error instanceof DamagedPageError) return false;
      throw error;
    }
  }

  readonly #added = ({ counts, isSynced, end: { group, lastPage } }: TxidAddition): void => {
    const before = this.#numbers.total;
    for (const count of counts) this.#numbers.push(count);
    [this.#group, this.#lastPage, this.#view] = [group, lastPage, undefined];
    if (isSynced) {
      this.#synced = this.#recorded = this.blocks;
      return;
    }
    this.#newBlocks += counts.length;
    this.#newBytes += (this.#numbers.total - before) * TXID_LENGTH;
    if (this.#syncing === undefined && (this.#newBlocks >= SYNC_BLOCKS || this.#newBytes >= SYNC_BYTES)) void this.#syncBehind();
  };

  /** Syncs the pages while the index goes on. Never rejects. */
  async #syncBehind(): Promise<void> {
    const syncing = (this.#syncing = { blocks: this.blocks });
    this.#newBlocks = this.#newBytes = 0;
    try {
      await this.#store.pages.sync();
      this.#synced = Math.max(this.#synced, syncing.blocks);
    } catch (error) {
      this.#failure = errorOf(error);
    }
    this.#syncing = undefined;
  }

  #removed(height: number, lastPage: Buffer): void {
    let txids: Buffer | undefined;
    try {
      txids = this.view.ofBlock(height);
    } catch (error) {
      // They are needed only by readers of an older state.
      if (!(error instanceof StoreError)) throw error;
    }
    this.#numbers.pop();
    [this.#lastPage, this.#view] = [lastPage, undefined];
    const next = new Era();
    this.#era.end = { removed: { height, txids, lastPage: { from: this.#wholePages * PAGE_TXIDS, txids: lastPage } }, next };
    this.#era = next;
    this.#synced = Math.min(this.#synced, height);
    this.#recorded = Math.min(this.#recorded, height);
    if (this.#syncing !== undefined) this.#syncing.blocks = Math.min(this.#syncing.blocks, height);
  }
}

/** @throws DamagedIndexError unless these are as many as the last page has of this number of transactions */
function requireLastPage(txids: Buffer, transactions: number): void {
  const expected = transactions % PAGE_TXIDS;
  if (txids.length !== expected * TXID_LENGTH)
    throw new DamagedIndexError(`expected ${expected} txids of the last page, got ${txids.length / TXID_LENGTH}`);
}
