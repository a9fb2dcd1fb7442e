// Walks through the rows of a script from any position in its history, upwards or downwards. Reading begins at the record that has the
// position. Records are read one after another, and only as long as the caller asks for more.

import { damaged } from '../../index/records/layout';
import { positionInKey, RowCursor, rowsBelow, rowsFrom } from '../records/row';
import type { Position } from '../../index/types';
import type { StoreRange, StoreSnapshot } from '../../store/store';
import type { Sum } from '../types';

/** A row without its txid, which is in another record. */
export interface FoundRow {
  readonly position: Position;
  readonly funded: Sum;
  readonly spent: Sum;
}

/**
 * Records of a script in ascending order, each cursor before its first row. With `beyond`: records with rows above this position; the first
 * one may also have rows up to it. `most`: limit for the records after that one.
 */
export async function* recordsUpwards(
  records: StoreSnapshot,
  hash: Buffer,
  beyond?: Position,
  most?: number
): AsyncGenerator<RowCursor, void> {
  let before: RowCursor | undefined;
  if (beyond !== undefined)
    for await (const [key, value] of records.range({ ...rowsBelow(hash, after(beyond)), reverse: true, limit: 1 }))
      yield (before = new RowCursor(key, value));
  for await (const [key, value] of records.range(upTo(most, rowsFrom(hash, beyond && after(beyond))))) {
    const cursor = new RowCursor(key, value);
    // The previous cursor is at its last row by now.
    if (before !== undefined) requireAbove(key, cursor, before);
    yield (before = cursor);
  }
}

/** Rows of a script above the position `beyond`, ascending: all, or at least `most` of them. */
export async function* rowsUpwards(records: StoreSnapshot, hash: Buffer, beyond?: Position, most?: number): AsyncGenerator<FoundRow, void> {
  for await (const cursor of recordsUpwards(records, hash, beyond, most))
    while (cursor.next()) if (beyond === undefined || isAbove(cursor, beyond)) yield foundRow(cursor);
}

/** Rows of a script below the position `beyond`, descending: all, or at least `most` of them. */
export async function* rowsDownwards(
  records: StoreSnapshot,
  hash: Buffer,
  beyond?: Position,
  most?: number
): AsyncGenerator<FoundRow, void> {
  const range: StoreRange = beyond === undefined ? rowsFrom(hash) : rowsBelow(hash, beyond);
  let before: { readonly key: Buffer; readonly position: Position } | undefined;
  for await (const [key, value] of records.range(upTo(most, { ...range, reverse: true }))) {
    const cursor = new RowCursor(key, value);
    const rows: FoundRow[] = [];
    while (cursor.next()) if (beyond === undefined || isAbove(beyond, cursor)) rows.push(foundRow(cursor));
    if (before !== undefined) requireAbove(before.key, before.position, cursor);
    before = { key, position: positionInKey(key) };
    yield* rows.reverse();
  }
}

/** Whether a position comes after another one in the chain. */
export function isAbove(position: Position, other: Position): boolean {
  return position.height > other.height || (position.height === other.height && position.index > other.index);
}

/** Limits a range so that it still gives at least `most` rows: each record has at least one. */
function upTo(most: number | undefined, range: StoreRange): StoreRange {
  return most === undefined ? range : { ...range, limit: most };
}

function foundRow({ height, index, fundedCount, fundedValue, spentCount, spentValue }: RowCursor): FoundRow {
  return {
    position: { height, index },
    funded: { count: fundedCount, value: fundedValue },
    spent: { count: spentCount, value: spentValue }
  };
}

function after({ height, index }: Position): Position {
  return index === 0xffff ? { height: height + 1, index: 0 } : { height, index: index + 1 };
}

function requireAbove(key: Buffer, position: Position, other: Position): void {
  if (isAbove(position, other)) return;
  const name = ({ height, index }: Position): string => `transaction ${index} of block ${height}`;
  throw damaged(key, `a row above ${name(other)}`, name(position));
}
