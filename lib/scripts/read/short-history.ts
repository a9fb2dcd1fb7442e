// A script whose rows all stand in one record: most scripts are of this kind. The record is read at once.

import { packed } from '../records/positions';
import { firstKey, hasFurther, RowCursor, totalsOf } from '../records/row';
import { RunningTotals } from './running-totals';
import type { RowColumns, TakeRow } from './row-walk';
import type { LooseScripts } from '../records/loose-scripts';
import type { Position } from '../../index/types';
import type { StoreSnapshot } from '../../store/store';

export class ShortHistory {
  readonly #key: Buffer;
  /** Undefined: there are no rows. */
  readonly #value: Buffer | undefined;

  private constructor(key: Buffer, value: Buffer | undefined) {
    this.#key = key;
    this.#value = value;
  }

  /** `hash`: of the script in the index. Undefined: the script may have several records, or reading would hold up the turn. */
  static read(store: StoreSnapshot, loose: LooseScripts, hash: Buffer): ShortHistory | undefined {
    const first = firstRecord(store, loose, hash);
    if (first === undefined) return undefined;
    const { key, value } = first;
    return value !== undefined && hasFurther(value) ? undefined : new ShortHistory(key, value);
  }

  /** Whether a script has at most `most` rows; undefined: not known from this record, or not in this turn. @throws DamagedIndexError */
  static isShort(store: StoreSnapshot, loose: LooseScripts, hash: Buffer, most: number): boolean | undefined {
    const first = firstRecord(store, loose, hash);
    if (first === undefined) return undefined;
    const { key, value } = first;
    return value === undefined || (!hasFurther(value) && totalsOf(key, value).transactions <= most);
  }

  /** What all rows add up to; `above`: those above this position. @throws DamagedIndexError */
  totals(above?: Position): RunningTotals {
    const sums = new RunningTotals();
    if (above !== undefined) this.each(sums.add, above);
    else if (this.#value !== undefined) sums.plus(totalsOf(this.#key, this.#value));
    return sums;
  }

  /** Gives the rows to `take`, in the order of the chain. `above`: only those above this position. @throws DamagedIndexError */
  each(take: TakeRow, above?: Position): void {
    if (this.#value === undefined) return;
    const beyond = above === undefined ? -1 : packed(above.height, above.index);
    const row = new RowCursor(this.#key, this.#value);
    while (row.next()) if (packed(row.height, row.index) > beyond) take(row);
  }

  /** The rows from the newest down. @throws DamagedIndexError */
  downwards(): RowColumns {
    const [positions, fundedCounts]: [number[], number[]] = [[], []];
    this.each((row) => {
      positions.push(packed(row.height, row.index));
      fundedCounts.push(row.fundedCount);
    });
    return { positions: positions.reverse(), fundedCounts: fundedCounts.reverse() };
  }
}

/** The first record of a script, without a value if there are no rows; undefined: there may be loose rows as well, or reading would hold up the turn. */
function firstRecord(store: StoreSnapshot, loose: LooseScripts, hash: Buffer): { key: Buffer; value: Buffer | undefined } | undefined {
  if (loose.mayHave(hash)) return undefined;
  const key = firstKey(hash);
  const found = store.soon([key]);
  return found && { key, value: found[0] };
}
