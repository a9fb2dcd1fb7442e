// How many transactions there are up to each block: together with its index in its block this gives a transaction's number in the chain.

import { TXID_LENGTH } from '../../bitcoin/transaction';
import { PAGE_LENGTH } from '../../store/pages';

/** Txids on a page. */
export const PAGE_TXIDS = PAGE_LENGTH / TXID_LENGTH;

const FIRST_CAPACITY = 1 << 16;

export class TransactionNumbers {
  /** For each block, the number of transactions up to and including it. */
  #ends = new Float64Array(FIRST_CAPACITY);
  #blocks = 0;

  get blocks(): number {
    return this.#blocks;
  }

  /** Number of all transactions. */
  get total(): number {
    return this.below(this.#blocks);
  }

  /** Number of the first transaction of the block at a height, which may be that of the next block. */
  below(height: number): number {
    return height === 0 ? 0 : (this.#ends[height - 1] as number); // up to `blocks`
  }

  /** Height of the block of the transaction with a number below `total`. */
  heightOf(number: number): number {
    let [from, to] = [0, this.#blocks - 1];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#ends[middle] as number) <= number) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Adds a block with this number of transactions. */
  push(transactions: number): void {
    if (this.#blocks === this.#ends.length) {
      const ends = new Float64Array(2 * this.#blocks);
      ends.set(this.#ends);
      this.#ends = ends;
    }
    this.#ends[this.#blocks] = this.total + transactions;
    this.#blocks++;
  }

  pop(): void {
    this.#blocks--;
  }
}
