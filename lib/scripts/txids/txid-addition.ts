// Blocks on their way into a table of txids: `take` each, `write`, put the writes into a batch, and `commit` when the batch is in the store.

import { TXID_LENGTH } from '../../bitcoin/transaction';
import { PAGE_LENGTH } from '../../store/pages';
import { BlockGroup, GROUP_BLOCKS, putGroup, putLastPage, putSynced } from '../records/block-txids';
import { PAGE_TXIDS } from './transaction-numbers';
import type { Pages } from '../../store/pages';
import type { StorePut } from '../../store/store';

/** The end of a table. */
export interface TableEnd {
  readonly blocks: number;
  readonly transactions: number;
  /** The last group; it has no blocks, or is full, if the next block begins another one. */
  readonly group: BlockGroup;
  /** The last txids, which do not fill a page. */
  readonly lastPage: Buffer;
}

/** The txids of a last page after a block with these txids. */
export function lastPageAfter(lastPage: Buffer, txids: Buffer): Buffer {
  const length = (lastPage.length + txids.length) % PAGE_LENGTH;
  if (length <= txids.length) return txids.subarray(txids.length - length);
  return Buffer.concat([lastPage, txids]);
}

export class TxidAddition {
  /** Numbers of transactions of the blocks so far. */
  readonly counts: number[] = [];
  readonly #pages: Pages;
  readonly #onCommit: (addition: TxidAddition) => void;
  /** The groups that change, with any height of each. */
  readonly #groups: { height: number; group: BlockGroup }[];
  #end: TableEnd;
  /** Txids that are not on pages yet. */
  #some: Buffer[];
  #length: number;
  #page: number;
  #isSynced = false;

  /** `onCommit`: called with this addition once it is in the store. */
  constructor(pages: Pages, start: TableEnd, onCommit: (addition: TxidAddition) => void) {
    this.#pages = pages;
    this.#onCommit = onCommit;
    this.#end = start;
    this.#groups = [];
    this.#some = [start.lastPage];
    this.#length = start.lastPage.length;
    this.#page = Math.floor(start.transactions / PAGE_TXIDS);
  }

  /** The end of the table with these blocks; complete after `write`. */
  get end(): TableEnd {
    return this.#end;
  }

  /** Whether all txids up to the end were synced. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Bytes that `write` would write. */
  get bytes(): number {
    return this.#length;
  }

  /** Adds the next block. `txids`: concatenated, at least one. */
  take(txids: Buffer): void {
    const { blocks, transactions, group } = this.#end;
    const isNew = blocks % GROUP_BLOCKS === 0;
    const next = (isNew ? BlockGroup.after(transactions) : group).plus(txids);
    const last = this.#groups.at(-1);
    if (last === undefined || isNew) this.#groups.push({ height: blocks, group: next });
    else last.group = next;
    const count = txids.length / TXID_LENGTH;
    this.counts.push(count);
    this.#end = { ...this.#end, blocks: blocks + 1, transactions: transactions + count, group: next };
    this.#some.push(txids);
    this.#length += txids.length;
  }

  /** Writes the pages that are full. */
  async write(): Promise<void> {
    const bytes = Buffer.concat(this.#some);
    const whole = bytes.length - (bytes.length % PAGE_LENGTH);
    if (whole > 0) await this.#pages.write(this.#page, bytes.subarray(0, whole));
    const lastPage = Buffer.from(bytes.subarray(whole));
    this.#page += whole / PAGE_LENGTH;
    this.#some = [lastPage];
    this.#length = lastPage.length;
    this.#end = { ...this.#end, lastPage };
  }

  /** As `write`, and waits until all txids are on the disk. No block may be added afterwards. */
  async sync(): Promise<void> {
    await this.write();
    await this.#pages.sync();
    this.#isSynced = true;
  }

  /** To be called after `write` or `sync`. */
  writes(): StorePut[] {
    const groups = this.#groups.map(({ height, group }) => putGroup(height, group));
    return [...groups, putLastPage(this.#end.lastPage), ...(this.#isSynced ? [putSynced(this.#end.blocks)] : [])];
  }

  /** To be called when its writes are in the store. */
  commit(): void {
    this.#onCommit(this);
  }
}
