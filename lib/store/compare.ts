// Compares two stores record by record, in key order.

import { WHOLE_STORE } from './migrate';
import type { Store } from './store';

type StoredRecord = readonly [key: Buffer, value: Buffer];

/** A record that is in one store only, or another in each. */
export interface StoreDifference {
  readonly key: Buffer;
  /** undefined: there should be none. */
  readonly expected: Buffer | undefined;
  /** undefined: there is none. */
  readonly found: Buffer | undefined;
}

export interface CompareOptions {
  /** Called with the key of each record that is the same. May throw to end the comparison. */
  readonly onRecord: (key: Buffer) => void;
}

/**
 * The first difference in key order between what a store should hold and what it holds.
 * @throws StoreError when one of them cannot be read, and what `onRecord` throws.
 */
export async function firstDifference(expected: Store, found: Store, { onRecord }: CompareOptions): Promise<StoreDifference | undefined> {
  const [expectedRecords, foundRecords] = [new Cursor(expected), new Cursor(found)];
  try {
    let [left, right] = [await expectedRecords.next(), await foundRecords.next()];
    while (left !== undefined || right !== undefined) {
      const order = compareKeys(left, right);
      if (order !== 0 || left?.[1].equals(right?.[1] as Buffer) !== true) // of one key: both are there
        return differenceOf(order <= 0 ? left : undefined, order >= 0 ? right : undefined);
      onRecord(left[0]);
      [left, right] = [await expectedRecords.next(), await foundRecords.next()];
    }
    return undefined;
  } finally {
    await expectedRecords.close();
    await foundRecords.close();
  }
}

/** As Buffer.compare; what has come to its end is behind everything. */
function compareKeys(a: StoredRecord | undefined, b: StoredRecord | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a[0].compare(b[0]);
}

function differenceOf(expected: StoredRecord | undefined, found: StoredRecord | undefined): StoreDifference {
  const [key] = (expected ?? found) as StoredRecord; // one of them is there
  return { key, expected: expected?.[1], found: found?.[1] };
}

class Cursor {
  readonly #records: AsyncIterator<StoredRecord>;

  constructor(store: Store) {
    this.#records = store.range(WHOLE_STORE)[Symbol.asyncIterator]();
  }

  async next(): Promise<StoredRecord | undefined> {
    const result = await this.#records.next();
    return result.done === true ? undefined : result.value;
  }

  async close(): Promise<void> {
    await this.#records.return?.();
  }
}
