// Compares two stores record by record, in key order.

import { WHOLE_STORE } from './migrate';
import type { Store, StoreRange } from './store';

type StoredRecord = readonly [key: Buffer, value: Buffer];
type Records = AsyncIterator<StoredRecord>;

/** A record that only one of the stores has, or that differs. */
export interface StoreDifference {
  readonly key: Buffer;
  /** undefined: there should be no record. */
  readonly expected: Buffer | undefined;
  /** undefined: there is no record. */
  readonly found: Buffer | undefined;
}

export interface CompareOptions {
  /** The keys that are compared; all unless given. */
  readonly range?: StoreRange;
  /** Called with the key of each record that is the same. May throw to end the comparison. */
  readonly onRecord: (key: Buffer) => void;
}

/**
 * The first difference in key order between what a store should hold and what it holds.
 * @throws StoreError when one of them cannot be read, and what `onRecord` throws.
 */
export async function firstDifference(
  expected: Store,
  found: Store,
  { onRecord, range = WHOLE_STORE }: CompareOptions
): Promise<StoreDifference | undefined> {
  const [wanted, present] = [expected, found].map((store) => store.range(range)[Symbol.asyncIterator]()) as [Records, Records];
  try {
    for (;;) {
      const [left, right] = [await next(wanted), await next(present)];
      // As Buffer.compare would return it; a store without further records sorts last.
      const order =
        left === undefined || right === undefined ? Number(left === undefined) - Number(right === undefined) : left[0].compare(right[0]);
      if (order < 0) return left && { key: left[0], expected: left[1], found: undefined };
      if (order > 0) return right && { key: right[0], expected: undefined, found: right[1] };
      if (left === undefined || right === undefined) return undefined;
      if (!left[1].equals(right[1])) return { key: left[0], expected: left[1], found: right[1] };
      onRecord(left[0]);
    }
  } finally {
    for (const records of [wanted, present]) await records.return?.();
  }
}

async function next(records: Records): Promise<StoredRecord | undefined> {
  const result = await records.next();
  return result.done === true ? undefined : result.value;
}
