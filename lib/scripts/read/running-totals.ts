// Adds up what transactions did with a script.

import { HistoryTooLongError } from '../errors';
import type { RowCursor, RowTotals } from '../records/row';
import type { ScriptTotals } from '../types';

export class RunningTotals {
  transactions = 0;
  #fundedCount = 0;
  #fundedValue = 0;
  #spentCount = 0;
  #spentValue = 0;

  readonly add = ({ fundedCount, fundedValue, spentCount, spentValue }: RowCursor): void => {
    this.transactions++;
    this.#fundedCount += fundedCount;
    this.#fundedValue += fundedValue;
    this.#spentCount += spentCount;
    this.#spentValue += spentValue;
  };

  plus({ transactions, fundedCount, fundedValue, spentCount, spentValue }: RowTotals): void {
    this.transactions += transactions;
    this.#fundedCount += fundedCount;
    this.#fundedValue += fundedValue;
    this.#spentCount += spentCount;
    this.#spentValue += spentValue;
  }

  /** How many outputs nothing spends. */
  get unspent(): number {
    return this.#fundedCount - this.#spentCount;
  }

  /** Values of 2^53 satoshis and above are rounded: `exact` refuses them. */
  totals(): ScriptTotals {
    return {
      transactions: this.transactions,
      funded: { count: this.#fundedCount, value: this.#fundedValue },
      spent: { count: this.#spentCount, value: this.#spentValue }
    };
  }
}

/** @throws HistoryTooLongError for sums that a number does not hold exactly: 2^53 satoshis and above */
export function exact(totals: ScriptTotals): ScriptTotals {
  if (Number.isSafeInteger(totals.funded.value) && Number.isSafeInteger(totals.spent.value)) return totals;
  throw new HistoryTooLongError('the script has got more satoshis than can be counted exactly');
}
