// The rows of a script from anywhere in its history on, upwards or downwards. A position is looked for, not counted to: reading begins with
// the record that holds it. Records are read one after the other and only as long as somebody asks for the next.

import { damaged } from '../../index/records/layout';
import { positionInKey, RowCursor, rowsBelow, rowsFrom } from '../records/row';
import type { Position } from '../../index/records/position';
import type { StoreRange, StoreSnapshot } from '../../store/store';
import type { Sum } from '../types';

/** A row of which the txid is not known. */
export interface FoundRow {
  readonly position: Position;
  readonly funded: Sum;
  readonly spent: Sum;
}

/**
 * Records of a script, each before its first row; the one that holds the position `beyond` comes first, and may have rows up to it. `most`: how
 * many of the others.
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
    // The cursor of before stands at its last row by now.
    if (before !== undefined) requireAbove(key, cursor, before);
    yield (before = cursor);
  }
}

/** Rows of a script above the position `beyond`: all, or as many as `most` at least. */
export async function* rowsUpwards(records: StoreSnapshot, hash: Buffer, beyond?: Position, most?: number): AsyncGenerator<FoundRow, void> {
  for await (const cursor of recordsUpwards(records, hash, beyond, most))
    while (cursor.next()) if (beyond === undefined || isAbove(cursor, beyond)) yield foundRow(cursor);
}

/** Rows of a script below the position `beyond`, the newest first: all, or as many as `most` at least. */
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

/** Whether a position is behind another one in the chain. */
export function isAbove(position: Position, other: Position): boolean {
  return position.height > other.height || (position.height === other.height && position.index > other.index);
}

/** Each record has a row at least. */
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
