import { FILTERS_KEY, FILTER_RECORDS } from './filter';
import { SPENT_HASHES } from './spent-hash';
import type { StoreRange } from '../../store/store';

/** All records that every index has, whatever its options. */
export const USUAL_RECORDS: readonly StoreRange[] = [
  { gte: Buffer.alloc(0), lt: FILTERS_KEY },
  { gte: Buffer.from('G'), lt: FILTER_RECORDS.gte },
  { gte: FILTER_RECORDS.lt, lt: SPENT_HASHES.gte },
  { gte: SPENT_HASHES.lt, lt: Buffer.from([0xff]) }
];
