// Which outputs of a script its transactions leave unspent, as far as its rows alone say so. A row says how many outputs it spends, and what
// they add up to, and these are among the outputs of the rows below: so an output is known to be spent when no other has the amount, or when
// as many are spent as there are. Others are doubtful, and have to be looked up.

import { packed } from '../records/positions';
import type { RowCursor } from '../records/row';

/** In the order of the chain. */
export interface OutputColumns {
  /** Of the transactions (lib/scripts/records/positions.ts). */
  readonly positions: readonly number[];
  readonly indexes: readonly number[];
  readonly values: readonly number[];
}

/** Made of all rows of a script, from the first one up. */
export class UnspentOutputs implements OutputColumns {
  readonly positions: number[] = [];
  readonly indexes: number[] = [];
  readonly values: number[] = [];
  readonly #doubtful: boolean[] = [];
  #doubtfulCount = 0;
  #unspentDoubtful = 0;
  #isComplete = true;
  /** Of the row that is added. */
  #position = 0;

  readonly add = (row: RowCursor): void => {
    if (!this.#isComplete) return;
    if (row.spentCount > 0) this.#spend(row.spentCount, row.spentValue);
    if (!row.isListed) {
      this.#isComplete = false;
      return;
    }
    if (row.fundedCount === 0) return;
    this.#position = packed(row.height, row.index);
    row.takeOutputs(this.#take);
  };

  /** False: a row does not list its outputs, and the columns say nothing. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** How many of the doubtful outputs are unspent. */
  get unspentDoubtful(): number {
    return this.#unspentDoubtful;
  }

  /** Places of the doubtful outputs in the columns. */
  get doubtful(): number[] {
    return placesOf(this.#doubtful, true);
  }

  /** Leaves out those at some places, which ascend. */
  drop(places: readonly number[]): void {
    let next = 0;
    let to = 0;
    for (let from = 0; from < this.positions.length; from++) {
      if (places[next] === from) {
        next++;
        if (this.#doubtful[from] === true) this.#doubtfulCount--;
        continue;
      }
      this.positions[to] = this.positions[from] as number; // within the columns, as the others are
      this.indexes[to] = this.indexes[from] as number;
      this.values[to] = this.values[from] as number;
      this.#doubtful[to++] = this.#doubtful[from] === true;
    }
    this.#cutTo(to);
  }

  readonly #take = (index: number, value: number): void => {
    this.positions.push(this.#position);
    this.indexes.push(index);
    this.values.push(value);
    this.#doubtful.push(false);
  };

  #cutTo(length: number): void {
    for (const column of [this.positions, this.indexes, this.values, this.#doubtful]) column.length = length;
  }

  #spend(count: number, value: number): void {
    // As many as there are.
    if (count === this.positions.length - this.#doubtfulCount + this.#unspentDoubtful) {
      this.#cutTo(0);
      [this.#doubtfulCount, this.#unspentDoubtful] = [0, 0];
      return;
    }
    if (count === 1) this.#spendOne(value);
    else this.#spendSome(count, [...this.positions.keys()]);
    if (this.#unspentDoubtful === 0 && this.#doubtfulCount > 0) this.drop(this.doubtful);
  }

  #spendOne(value: number): void {
    const alike = placesOf(this.values, value);
    const [only] = alike;
    if (only === undefined || alike.length > 1) {
      this.#spendSome(1, alike);
      return;
    }
    if (this.#doubtful[only] === true) this.#unspentDoubtful--;
    this.drop(alike);
  }

  /** Spends that many of those at these places. */
  #spendSome(count: number, places: readonly number[]): void {
    // Otherwise the rows are not all of the script's.
    if (count > places.length) this.#isComplete = false;
    for (const at of places) {
      if (this.#doubtful[at] === true) continue;
      this.#doubtful[at] = true;
      this.#doubtfulCount++;
      this.#unspentDoubtful++;
    }
    this.#unspentDoubtful -= count;
  }
}

/** Where a list has a value. */
function placesOf<T>(list: readonly T[], value: T): number[] {
  const places: number[] = [];
  for (let at = list.indexOf(value); at >= 0; at = list.indexOf(value, at + 1)) places.push(at);
  return places;
}
