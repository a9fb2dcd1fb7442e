// What the newest transactions changed for some scripts together: for each position the sum over the rows of all of them. Scripts are read one
// after the other, each only as far down as its rows can still be among the newest.

import { packed } from '../records/positions';
import { nextTurn, Slice } from '../../turns/slices';
import { rowsDownwards } from './row-walk';
import type { Position } from '../../index/types';
import type { StoreSnapshot } from '../../store/store';
import type { RowCursor } from '../records/row';

/** Positions from the newest down, and for each what was paid to the scripts less what was spent from them, in satoshis. */
export interface Changes {
  readonly positions: readonly number[];
  readonly values: readonly number[];
}

export interface ChangesPage {
  /** Only rows below this position. */
  readonly beyond?: Position | undefined;
  /** The most positions. */
  readonly limit: number;
  /** Called now and then. An error that it throws ends the reading. */
  readonly goOn: () => void;
}

/** `hashes`: of the scripts in the index, each once. @throws DamagedIndexError */
export async function newestChanges(
  records: StoreSnapshot,
  hashes: readonly Buffer[],
  { beyond, limit, goOn }: ChangesPage
): Promise<Changes> {
  let newest = new Map<number, number>();
  /** Rows below are not among the newest. */
  let floor = -1;
  const slice = new Slice();
  const take = (row: RowCursor): void => {
    const at = packed(row.height, row.index);
    if (at >= floor) newest.set(at, (newest.get(at) ?? 0) + row.fundedValue - row.spentValue);
  };
  for (const hash of limit > 0 ? hashes : []) {
    let rows = 0;
    for await (const { positions } of rowsDownwards(records, hash, { beyond, take, wanted: limit })) {
      goOn();
      if (slice.isOver()) await nextTurn();
      rows += positions.length;
      if (rows >= limit || (positions.at(-1) ?? floor) < floor) break;
    }
    if (newest.size <= limit) continue;
    newest = new Map(downwards(newest).slice(0, limit));
    floor = [...newest.keys()].at(-1) ?? floor;
  }
  const found = downwards(newest);
  return { positions: found.map(([position]) => position), values: found.map(([, value]) => value) };
}

const downwards = (newest: ReadonlyMap<number, number>): [number, number][] => [...newest].sort(([a], [b]) => b - a);
