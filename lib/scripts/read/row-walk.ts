// Walks through the rows of a script from any position in its history, upwards or downwards. Most scripts have few records, which are read
// together; those of the others are read page by page, as long as the caller asks for more. Rows are not turned into objects.

import { damaged } from '../../index/records/layout';
import { packed } from '../records/positions';
import { RowCursor, rowsBelow, rowsFrom } from '../records/row';
import type { Position } from '../../index/types';
import type { StoreEntry, StoreRange, StoreSnapshot } from '../../store/store';

/** Records that are read first. */
const FIRST_RECORDS = 2;

/** Called for each row, with a cursor that moves on afterwards. */
export type TakeRow = (row: RowCursor) => void;

/** The rows of a script above a position, in the order of the chain. Must be closed. */
export class UpwardWalk {
  readonly #store: StoreSnapshot;
  /** -1: it begins before the first row. */
  readonly #beyond: number;
  /** The record with the last rows up to `beyond`, which may also have others; undefined: it was read, or there is none. */
  #before: StoreRange | undefined;
  /** Records that were not read yet; undefined: there are none. */
  #left: StoreRange | undefined;
  #hasBegun = false;
  #pages: AsyncIterator<readonly StoreEntry[]> | undefined;
  /** The records that were read last, and the place of the next one. */
  #records: readonly StoreEntry[] = [];
  #next = 0;
  /** In the record before that. */
  #row: RowCursor | undefined;
  /** The position of the row that came last. */
  #last = -1;

  /** `hash`: of the script in the index. */
  constructor(store: StoreSnapshot, hash: Buffer, beyond?: Position) {
    this.#store = store;
    this.#beyond = beyond === undefined ? -1 : packed(beyond.height, beyond.index);
    const from = beyond && after(beyond);
    this.#before = from && { ...rowsBelow(hash, from), reverse: true };
    this.#left = rowsFrom(hash, from);
  }

  /** Takes the next rows: `most` of them, or fewer if there are no more. Returns their number. @throws DamagedIndexError */
  async take(most: number, take: TakeRow): Promise<number> {
    let count = this.#takeRead(most, take);
    while (count < most && (this.#before ?? this.#left) !== undefined) {
      this.#show(await this.#readSome());
      count += this.#takeRead(most - count, take);
    }
    return count;
  }

  /** Takes the rows of the records that are read next. False: there are no more. @throws DamagedIndexError */
  async takeSome(take: TakeRow): Promise<boolean> {
    if ((this.#before ?? this.#left) === undefined) return false;
    this.#show(await this.#readSome());
    this.#takeRead(Infinity, take);
    return true;
  }

  async close(): Promise<void> {
    await this.#pages?.return?.();
  }

  #show(records: readonly StoreEntry[]): void {
    this.#records = records;
    this.#next = 0;
  }

  async #readSome(): Promise<readonly StoreEntry[]> {
    if (this.#before !== undefined) {
      const range = this.#before;
      this.#before = undefined;
      return (await this.#store.head(range, 1)).entries;
    }
    const range = this.#left as StoreRange; // checked by the callers
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      const { entries, isWhole } = await this.#store.head(range, FIRST_RECORDS);
      this.#left = isWhole ? undefined : beyondOf(range, entries);
      return entries;
    }
    this.#pages ??= this.#store.pages(range)[Symbol.asyncIterator]();
    const page = await this.#pages.next();
    if (page.done !== true) return page.value;
    this.#left = undefined;
    return [];
  }

  /** Takes rows of records that were read. */
  #takeRead(most: number, take: TakeRow): number {
    for (let count = 0; ;) {
      const row = (this.#row ??= this.#nextRecord());
      if (row === undefined) return count;
      while (count < most && row.next()) {
        this.#last = packed(row.height, row.index);
        if (this.#last <= this.#beyond) continue;
        take(row);
        count++;
      }
      if (count === most) return count;
      this.#row = undefined;
    }
  }

  #nextRecord(): RowCursor | undefined {
    const record = this.#records[this.#next++];
    if (record === undefined) return undefined;
    const [key, value] = record;
    const row = new RowCursor(key, value);
    if (packed(row.height, row.index) <= this.#last) throw damaged(key, 'a row above the one before', 'one below');
    return row;
  }
}

/** Rows as columns. */
export interface RowColumns {
  /** Of the transactions (lib/scripts/records/positions.ts). */
  readonly positions: readonly number[];
  /** How many outputs of each pay to the script. */
  readonly fundedCounts: readonly number[];
}

export interface DownwardOptions {
  /** Only rows below this position. */
  readonly beyond?: Position | undefined;
  /** Called for each row, in no order. */
  readonly take?: TakeRow;
  /** How many rows are likely to be wanted: more records are read only when these are not enough. */
  readonly wanted?: number;
}

/** The rows of a script from the newest down, some at a time. */
export async function* rowsDownwards(
  records: StoreSnapshot,
  hash: Buffer,
  { beyond, take = () => undefined, wanted }: DownwardOptions = {}
): AsyncGenerator<RowColumns, void> {
  const limit = beyond === undefined ? Infinity : packed(beyond.height, beyond.index);
  const range = beyond === undefined ? rowsFrom(hash) : rowsBelow(hash, beyond);
  /** The record above, and its first position. */
  let above: { readonly key: Buffer; readonly first: number } | undefined;
  for await (const entries of pagesOf(records, { ...range, reverse: true }, wanted)) {
    const positions: number[] = [];
    const fundedCounts: number[] = [];
    for (const [key, value] of entries) {
      const row = new RowCursor(key, value);
      const first = packed(row.height, row.index);
      const [ofRecord, counts]: [number[], number[]] = [[], []];
      let last = -1;
      while (row.next()) {
        last = packed(row.height, row.index);
        if (last >= limit) continue;
        ofRecord.push(last);
        counts.push(row.fundedCount);
        take(row);
      }
      if (above !== undefined && last >= above.first) throw damaged(above.key, 'a row above the one before', 'one below');
      above = { key, first };
      for (let i = ofRecord.length - 1; i >= 0; i--) {
        positions.push(ofRecord[i] as number); // within the list, as is the count
        fundedCounts.push(counts[i] as number);
      }
    }
    yield { positions, fundedCounts };
  }
}

/** The records of a range, some at a time. `wanted`: how many are likely to be enough. */
async function* pagesOf(
  records: StoreSnapshot,
  range: StoreRange,
  wanted: number | undefined
): AsyncGenerator<readonly StoreEntry[], void> {
  const { entries, isWhole } = await records.head(range, FIRST_RECORDS);
  yield entries;
  if (isWhole) return;
  let rest = beyondOf(range, entries);
  if (wanted !== undefined)
    for await (const some of records.pages({ ...rest, limit: wanted })) {
      yield some;
      rest = beyondOf(rest, some);
    }
  yield* records.pages(rest);
}

/** What is left of a range after its first entries. */
function beyondOf(range: StoreRange, entries: readonly StoreEntry[]): StoreRange {
  const last = entries.at(-1)?.[0];
  if (last === undefined) return range;
  return range.reverse === true ? { ...range, lt: last } : { ...range, gte: Buffer.concat([last, Buffer.alloc(1)]) };
}

function after({ height, index }: Position): Position {
  return index === 0xffff ? { height: height + 1, index: 0 } : { height, index: index + 1 };
}
