// Which outputs of a script its transactions leave unspent, as far as its rows alone say so. A row says how many outputs it spends, and what
// they add up to, and these are among the outputs of the rows below: so an output is known to be spent when no other has the amount, or when
// as many are spent as there are. Others are doubtful, and have to be looked up.

import { packed } from '../records/positions';
import type { RowCursor } from '../records/row';

export interface UnspentOutput {
  /** Of the transaction (lib/scripts/records/positions.ts). */
  readonly position: number;
  readonly index: number;
  readonly value: number;
  isDoubtful: boolean;
}

/** Made of all rows of a script, from the first one up. */
export class UnspentOutputs {
  #all: UnspentOutput[] = [];
  /** How many of the doubtful ones are unspent. */
  #unspentDoubtful = 0;
  #isComplete = true;

  readonly add = (row: RowCursor): void => {
    if (!this.#isComplete) return;
    if (row.spentCount > 0) this.#spend(row.spentCount, row.spentValue);
    if (!row.isListed) {
      this.#isComplete = false;
      return;
    }
    if (row.fundedCount === 0) return;
    const position = packed(row.height, row.index);
    row.takeOutputs((index, value) => this.#all.push({ position, index, value, isDoubtful: false }));
  };

  /** In the order of the chain; undefined: a row does not list its outputs. */
  get found(): { readonly outputs: readonly UnspentOutput[]; readonly unspentDoubtful: number } | undefined {
    if (!this.#isComplete) return undefined;
    return { outputs: this.#all, unspentDoubtful: this.#unspentDoubtful };
  }

  #spend(count: number, value: number): void {
    const sure = this.#all.filter(isSure).length;
    // As many as there are.
    if (count === sure + this.#unspentDoubtful) [this.#all, this.#unspentDoubtful] = [[], 0];
    else if (count === 1) this.#spendOne(value);
    else this.#spendSome(count, this.#all);
    if (this.#unspentDoubtful === 0) this.#all = this.#all.filter(isSure);
  }

  #spendOne(value: number): void {
    const alike = this.#all.filter((output) => output.value === value);
    const [only] = alike;
    if (only === undefined || alike.length > 1) this.#spendSome(1, alike);
    else {
      this.#all = this.#all.filter((output) => output !== only);
      if (only.isDoubtful) this.#unspentDoubtful--;
    }
  }

  /** Spends that many of these. */
  #spendSome(count: number, some: readonly UnspentOutput[]): void {
    // Otherwise the rows are not all of the script's.
    if (count > some.length) this.#isComplete = false;
    for (const output of some) {
      if (!output.isDoubtful) this.#unspentDoubtful++;
      output.isDoubtful = true;
    }
    this.#unspentDoubtful -= count;
  }
}

const isSure = ({ isDoubtful }: UnspentOutput): boolean => !isDoubtful;
