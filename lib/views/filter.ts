// Basic filters of blocks and filter headers as Bitcoin Core writes them.

import { toDisplayHex } from '../bitcoin/hash';
import { LONGEST_COMPACT_SIZE, writeCompactSize } from '../bitcoin/reader';
import { listOf, object, type Schema } from '../describe/schema';
import { HASH, HEX } from '../describe/values';

/** The filter type `basic`. */
const BASIC = 0;

/** Type, hash of the block in wire order, length of the filter as a compact size, filter. */
export function filterBinary(blockHash: Buffer, filter: Buffer): Buffer {
  const length = Buffer.allocUnsafe(LONGEST_COMPACT_SIZE);
  return Buffer.concat([Buffer.of(BASIC), blockHash, length.subarray(0, writeCompactSize(length, filter.length, 0)), filter]);
}

/** `filter`: a serialized filter. */
export function filterJson(filter: Buffer): Buffer {
  return Buffer.from(`{"filter":"${filter.toString('hex')}"}\n`, 'latin1');
}

/** `headers`: 32 bytes each, in wire order; the JSON shows them reversed. */
export function filterHeadersJson(headers: Buffer): Buffer {
  const texts = Array.from({ length: headers.length / 32 }, (_, i) => `"${toDisplayHex(headers.subarray(i * 32, (i + 1) * 32))}"`);
  return Buffer.from(`[${texts.join(',')}]\n`, 'latin1');
}

/** What `filterJson` writes. */
export const FILTER: Schema = object({ filter: HEX });

/** What `filterHeadersJson` writes. */
export const FILTER_HEADERS: Schema = listOf(HASH);
