// The txids of all transactions up to one block, by position. All views read the same pages, which have the txids of the latest state. A view
// that is older than a block that was disconnected gets what was in that block from memory.

import { TXID_LENGTH } from '../../bitcoin/transaction';
import { DamagedIndexError } from '../../follow/errors';
import { nextTurn } from '../../turns/slices';
import { ScriptsUnavailableError } from '../errors';
import { heightIn, indexIn, packed } from '../records/positions';
import { CACHED_PAGES } from '../../store/page-cache';
import { PAGE_TXIDS } from './transaction-numbers';
import type { Pages } from '../../store/pages';
import type { Position } from '../../index/types';
import type { TransactionNumbers } from './transaction-numbers';

/** How long the event loop waits for pages in one turn. */
const READ_MS = 1;
/** If fewer pages were read in that time, the disk is slow: then further ones are read off the event loop, some together. */
const FEW = 32;
const TOGETHER = 64;

/** What left the chain when a block was disconnected. */
interface Removed {
  readonly height: number;
  /** Undefined: they could not be read. */
  readonly txids: Buffer | undefined;
  /** The first txids of a page whose end has left, up to the block: the page is going to be written anew. */
  readonly lastPage: LastPage;
}

/** From one block that is disconnected to the next. Views have the era in which they were made. */
export class Era {
  /** Undefined for the present one. */
  end: { readonly removed: Removed; readonly next: Era } | undefined;
}

/** The last txids of a chain, which do not fill a page. */
export interface LastPage {
  /** Number of the first transaction. */
  readonly from: number;
  readonly txids: Buffer;
}

export interface TxidViewParts {
  /** They may have moved on since. */
  readonly numbers: TransactionNumbers;
  readonly pages: Pages;
  /** How many blocks the view has. */
  readonly blocks: number;
  readonly lastPage: LastPage;
  readonly era: Era;
}

/** All calls throw DamagedPageError, StoreError, and ScriptsUnavailableError for what has left the chain and could not be kept. */
export class TxidView {
  readonly #parts: TxidViewParts;

  constructor(parts: TxidViewParts) {
    this.#parts = parts;
  }

  /** Number of blocks, from the genesis block up. */
  get blocks(): number {
    return this.#parts.blocks;
  }

  /** undefined: no such transaction. */
  at({ height, index }: Position): Buffer | undefined {
    if (height < 0 || height >= this.blocks || index < 0 || index >= this.transactions(height)) return undefined;
    return this.now([packed(height, index)]);
  }

  /** Number of transactions of the block at a height below `blocks`. */
  transactions(height: number): number {
    const { numbers, era } = this.#parts;
    const removed = removedAt(height, era);
    return removed === undefined ? numbers.below(height + 1) - numbers.below(height) : txidsOf(removed).length / TXID_LENGTH;
  }

  /** The concatenated txids of the block at a height below `blocks`. */
  ofBlock(height: number): Buffer {
    const removed = removedAt(height, this.#parts.era);
    if (removed !== undefined) return txidsOf(removed);
    return this.now(this.positionsIn(height));
  }

  /** The positions of all transactions of the block at a height below `blocks`. */
  positionsIn(height: number): number[] {
    return Array.from({ length: this.transactions(height) }, (_, index) => packed(height, index));
  }

  /** Reads the newest pages, as many as are kept (lib/store/page-cache.ts), in slices; ends early when a block is disconnected. */
  async readNewest(): Promise<void> {
    const { pages, lastPage, era } = this.#parts;
    const end = Math.floor(lastPage.from / PAGE_TXIDS);
    const count = Math.min(end, CACHED_PAGES);
    const newest = Array.from({ length: count }, (_, i) => end - count + i);
    for (let at = 0; at < count && era.end === undefined;) {
      at = pages.visit(newest, at, count, performance.now() + READ_MS, () => undefined);
      await nextTurn();
    }
  }

  /** As `of`, in one turn. */
  now(positions: ArrayLike<number>): Buffer {
    const found = Buffer.allocUnsafe(positions.length * TXID_LENGTH);
    new Lookup(this.#parts, positions, found).readUntil(Infinity);
    return found;
  }

  /**
   * The concatenated txids of transactions at ascending positions (lib/scripts/records/positions.ts), in this order; a promise only if that
   * takes more than one turn. @throws DamagedIndexError also for a position without a transaction
   */
  of(positions: ArrayLike<number>): Buffer | Promise<Buffer> {
    const found = Buffer.allocUnsafe(positions.length * TXID_LENGTH);
    const lookup = new Lookup(this.#parts, positions, found);
    return lookup.readUntil(performance.now() + READ_MS) ? found : lookup.finish().then(() => found);
  }
}

/** Finds txids, from memory or from their pages. */
class Lookup {
  readonly #parts: TxidViewParts;
  readonly #positions: ArrayLike<number>;
  readonly #found: Buffer;
  /** Of txids that are on pages: the page, where it has the txid, and where this goes. */
  #numbers: number[] = [];
  #from: number[] = [];
  #to: number[] = [];
  /** How many of them were read. */
  #done = 0;
  /** In which the pages have what is looked for there: only until a block is disconnected. */
  #era: Era;

  constructor(parts: TxidViewParts, positions: ArrayLike<number>, found: Buffer) {
    this.#parts = parts;
    this.#positions = positions;
    this.#found = found;
    this.#era = parts.era;
    this.#begin();
  }

  /** Reads pages until all are read, or it is later than `until` (performance.now). Returns whether all were read. */
  readUntil(until: number): boolean {
    const { length } = this.#numbers;
    if (this.#done < length) this.#done = this.#parts.pages.visit(this.#numbers, this.#done, length, until, this.#takePage);
    return this.#done === length;
  }

  async finish(): Promise<void> {
    for (let before = 0; this.#done < this.#numbers.length;) {
      const isSlow = this.#done - before < FEW;
      before = this.#done;
      await (isSlow ? this.#load() : nextTurn());
      if (this.#era.end !== undefined) {
        // Pages may be written anew from now on, or were while they were read.
        this.#begin();
        before = 0;
      }
      if (!isSlow) this.readUntil(performance.now() + READ_MS);
    }
  }

  /** Takes what is in memory, and makes the list of pages for the rest. */
  #begin(): void {
    const { numbers, blocks, lastPage, era } = this.#parts;
    while (this.#era.end !== undefined) this.#era = this.#era.end.next;
    [this.#numbers, this.#from, this.#to, this.#done] = [[], [], [], 0];
    for (let i = 0, to = 0; i < this.#positions.length; i++, to += TXID_LENGTH) {
      const position = this.#positions[i] as number; // within the list
      const height = heightIn(position);
      const index = indexIn(position);
      if (height >= blocks) throw noTransaction(height, index);
      if (era.end !== undefined && this.#takeRemoved(era, height, index, to)) continue;
      const below = numbers.below(height);
      const number = below + index;
      if (number >= numbers.below(height + 1)) throw noTransaction(height, index);
      if (number >= lastPage.from) this.#take(lastPage.txids, number - lastPage.from, to);
      else if (era.end === undefined || !this.#takeRewritten(era, number, to)) {
        const page = Math.floor(number / PAGE_TXIDS);
        this.#numbers.push(page);
        this.#from.push((number - page * PAGE_TXIDS) * TXID_LENGTH);
        this.#to.push(to);
      }
    }
  }

  async #load(): Promise<void> {
    const to = Math.min(this.#done + TOGETHER, this.#numbers.length);
    try {
      await this.#parts.pages.load(this.#numbers, this.#done, to, this.#takePage);
      this.#done = to;
    } catch (error) {
      if (this.#era.end === undefined) throw error;
    }
  }

  readonly #takePage = (at: number, bytes: Buffer, start: number): void => {
    const from = start + (this.#from[at] as number); // one for each page, as below
    const to = this.#to[at] as number;
    for (let i = 0; i < TXID_LENGTH; i++) this.#found[to + i] = bytes[from + i] as number; // a txid has 32 bytes
  };

  /** `number`: of the transaction in `txids`. */
  #take(txids: Buffer, number: number, to: number): void {
    txids.copy(this.#found, to, number * TXID_LENGTH, (number + 1) * TXID_LENGTH);
  }

  /** A txid of a block that was disconnected since `era`; false if it was not. */
  #takeRemoved(era: Era, height: number, index: number, to: number): boolean {
    const removed = removedAt(height, era);
    if (removed === undefined) return false;
    const txids = txidsOf(removed);
    if (index * TXID_LENGTH >= txids.length) throw noTransaction(height, index);
    this.#take(txids, index, to);
    return true;
  }

  /** A txid on a page that was written anew since `era`; false if its page was not. */
  #takeRewritten(era: Era, number: number, to: number): boolean {
    for (let each = era; each.end !== undefined; each = each.end.next) {
      const { from, txids } = each.end.removed.lastPage;
      if (number < from) continue;
      this.#take(txids, number - from, to);
      return true;
    }
    return false;
  }
}

/** What was removed first, since `era`, at a height. */
function removedAt(height: number, era: Era): Removed | undefined {
  for (let each = era; each.end !== undefined; each = each.end.next) if (each.end.removed.height === height) return each.end.removed;
  return undefined;
}

function txidsOf({ txids, height }: Removed): Buffer {
  if (txids === undefined) throw new ScriptsUnavailableError(`the block at height ${height} has left the chain`);
  return txids;
}

const noTransaction = (height: number, index: number): DamagedIndexError =>
  new DamagedIndexError(`expected a transaction at index ${index} of the block at height ${height}, got none`);
