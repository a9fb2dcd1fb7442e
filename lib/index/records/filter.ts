// Basic filters of blocks (BIP158), in an index that has them (--rest-filters).
//
//   'F'                  how far they are: height 4, hash 32, lowest height 4
//   'e' block hash 32    filter of a block that was disconnected
//   'f' height 4         filter
//   'g' height 4         hash of the block 32, of the filter 32, and the filter header 32
//
// 'F' says that all blocks from the lowest height up to a block have filters; those below are filled in (bootstrap/filter-fill.ts).
// If the option was off for a while, that block is below the tip, or left the chain; then filter-fill.ts looks at every block.
//
// A filter header builds on the filter headers of all blocks below. It is left out while one of these is missing, so that the
// lowest blocks have filter headers, without a gap.
//
// Undoing a block deletes its records even if the option is off, so that none of another chain remains. If an older program, which
// did not know these records, has left some, they are recognized by their block hash.

import { HASH_LENGTH } from '../../bitcoin/hash';
import { filterHashOf, filterHeaderOf, NO_FILTER_HEADER } from '../../bitcoin/block-filter';
import { damaged, keyOfHeight, putRecord, recordOf, type Records } from './layout';
import type { BlockPoint } from '../../node/types/chain';
import type { StorePut, StoreRange, StoreWrite } from '../../store/store';

export const FILTERS_KEY = Buffer.from('F');

const FILTERS_LENGTH = 40;

/** All blocks from the height `from` up to this one have filters. */
export interface FilterSpan extends BlockPoint {
  readonly from: number;
}

/** The write that says which blocks have filters: height 4, hash 32, lowest height 4, integers big endian. */
export function putFilterSpan({ height, hash, from }: FilterSpan): StorePut {
  const record = Buffer.alloc(FILTERS_LENGTH);
  record.writeUInt32BE(height);
  hash.copy(record, 4);
  record.writeUInt32BE(from, 36);
  return putRecord(FILTERS_KEY, record);
}

/** undefined: there never were filters. @throws DamagedIndexError */
export function findFilterSpan(records: Records): FilterSpan | undefined {
  const value = records.get(FILTERS_KEY);
  if (value === undefined) return undefined;
  const record = recordOf(FILTERS_KEY, value, FILTERS_LENGTH);
  return { height: record.readUInt32BE(), hash: record.subarray(4, 36), from: record.readUInt32BE(36) };
}

export const filterKey = keyOfHeight('f');
export const filterEntryKey = keyOfHeight('g');

/** All records of filters except the one under 'F'. */
export const FILTER_RECORDS: StoreRange = { gte: Buffer.from('e'), lt: Buffer.from('h') };

/** The key of the filter of a block that was disconnected. `hash`: of the block, 32 bytes in wire order; cut short, the start of a range. */
export const staleFilterKey = (hash: Buffer): Buffer => Buffer.concat([Buffer.from('e'), hash]);

/** The record under 'g'. */
export interface FilterEntry {
  readonly blockHash: Buffer;
  readonly filterHash: Buffer;
  /** The filter header; undefined: filters of blocks below are missing. */
  readonly header: Buffer | undefined;
}

/** undefined: there is no filter of this block. @throws DamagedIndexError */
export function filterEntryOf(records: Records, { height, hash }: BlockPoint): FilterEntry | undefined {
  const key = filterEntryKey(height);
  const value = records.get(key);
  if (value === undefined) return undefined;
  const entry = decodeFilterEntry(key, value);
  return entry.blockHash.equals(hash) ? entry : undefined;
}

/** The parts are views. @throws DamagedIndexError */
export function decodeFilterEntry(key: Buffer, value: Buffer): FilterEntry {
  const record = recordOf(key, value);
  const { length } = record;
  if (length !== 2 * HASH_LENGTH && length !== 3 * HASH_LENGTH) throw damaged(key, 'two or three hashes', `${length} bytes`);
  return {
    blockHash: record.subarray(0, HASH_LENGTH),
    filterHash: record.subarray(HASH_LENGTH, 2 * HASH_LENGTH),
    header: length === 3 * HASH_LENGTH ? record.subarray(2 * HASH_LENGTH) : undefined
  };
}

/** The filter of a block; undefined: it has none. @throws DamagedIndexError */
export function filterOf(records: Records, block: BlockPoint): Buffer | undefined {
  if (filterEntryOf(records, block) === undefined) return undefined;
  const key = filterKey(block.height);
  const value = records.get(key);
  if (value === undefined) throw damaged(key, 'a filter', 'none');
  return recordOf(key, value);
}

/** The filter of a block that was disconnected; undefined: it had none. @throws DamagedIndexError */
export function staleFilterOf(records: Records, hash: Buffer): Buffer | undefined {
  const key = staleFilterKey(hash);
  const value = records.get(key);
  return value && recordOf(key, value);
}

/** The writes for a block's filter, and its filter header. `previous`: the filter header of the block below; undefined: not known yet. */
export function putFilter(
  { height, hash }: BlockPoint,
  filter: Buffer,
  previous: Buffer | undefined
): { readonly writes: readonly StorePut[]; readonly header: Buffer | undefined } {
  const filterHash = filterHashOf(filter);
  const header = previous && filterHeaderOf(filterHash, previous);
  return { writes: [putRecord(filterKey(height), filter), putFilterEntry(height, { blockHash: hash, filterHash, header })], header };
}

/** The write for an entry alone. */
export function putFilterEntry(height: number, { blockHash, filterHash, header }: FilterEntry): StorePut {
  return putRecord(filterEntryKey(height), Buffer.concat([blockHash, filterHash, ...(header === undefined ? [] : [header])]));
}

/** The writes that undo a block's filter; from then on it is found by the block's hash. @throws DamagedIndexError */
export function undoFilterWrites(records: Records, block: BlockPoint, previous: BlockPoint): StoreWrite[] {
  const { height, hash } = block;
  const writes: StoreWrite[] = [filterKey(height), filterEntryKey(height)].map((key) => ({ type: 'del', key }));
  const filter = filterOf(records, block);
  if (filter !== undefined) writes.push(putRecord(staleFilterKey(hash), filter));
  const span = findFilterSpan(records);
  if (span !== undefined && span.height >= height) writes.push(putFilterSpan({ ...previous, from: Math.min(span.from, height) }));
  return writes;
}

/** What the filter header of the next block builds on. */
export interface FilterTip {
  /** All blocks from this height up have filters; the height above the tip when the tip has none. */
  readonly from: number;
  /** Filter header of the tip; undefined: filters of blocks below are missing. */
  readonly header: Buffer | undefined;
}

/** The state below the genesis block. */
export const NO_FILTERS: FilterTip = { from: 0, header: NO_FILTER_HEADER };

/** @throws DamagedIndexError */
export function filterTipOf(records: Records, tip: BlockPoint): FilterTip {
  const span = findFilterSpan(records);
  const isOfTip = span?.height === tip.height && span.hash.equals(tip.hash);
  return { from: isOfTip ? span.from : tip.height + 1, header: filterEntryOf(records, tip)?.header };
}

/** Whether there is nothing to fill in. */
export function isFilled({ from, header }: FilterTip): boolean {
  return from === 0 && header !== undefined;
}
