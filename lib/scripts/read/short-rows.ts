// All rows of a script that has one record, as columns: most scripts are of this kind.

import { packed } from '../records/positions';
import { firstKey, hasFurther, RowCursor } from '../records/row';
import { RunningTotals } from './running-totals';
import type { TakeRow } from './row-walk';
import type { LooseScripts } from '../records/loose-scripts';
import type { Position } from '../../index/types';
import type { StoreSnapshot } from '../../store/store';

export interface ShortRows {
  /** In the order of the chain (lib/scripts/records/positions.ts). */
  readonly positions: number[];
  /** How many outputs of each transaction pay to the script. */
  readonly fundedCounts: number[];
  readonly sums: RunningTotals;
}

interface ShortOptions {
  /** Only rows above this position. */
  readonly above?: Position | undefined;
  /** Called for each row, with a cursor that moves on afterwards. */
  readonly take?: TakeRow | undefined;
}

/**
 * The rows of a script, read at once. `hash`: of the script in the index. Undefined: the script may have several records, or
 * reading would hold up the turn. @throws DamagedIndexError
 */
export function shortRows(
  store: StoreSnapshot,
  loose: LooseScripts,
  hash: Buffer,
  { above, take }: ShortOptions = {}
): ShortRows | undefined {
  if (loose.mayHave(hash)) return undefined;
  const key = firstKey(hash);
  const found = store.soon([key]);
  if (found === undefined) return undefined;
  const rows: ShortRows = { positions: [], fundedCounts: [], sums: new RunningTotals() };
  const [value] = found;
  if (value === undefined) return rows;
  if (hasFurther(value)) return undefined;
  const beyond = above === undefined ? -1 : packed(above.height, above.index);
  const row = new RowCursor(key, value);
  while (row.next()) {
    const position = packed(row.height, row.index);
    if (position <= beyond) continue;
    rows.positions.push(position);
    rows.fundedCounts.push(row.fundedCount);
    rows.sums.add(row);
    take?.(row);
  }
  return rows;
}
