// Offsets and lengths of transactions in their serialized blocks.
//
//   'l' height 4, group 1    offset of the group's first transaction 4, length of the block 4,
//                            lengths of the transactions in order (numbers.ts)
//
// A group has 256 transactions: to find one, a few hundred bytes are read, not the lengths of the whole block.

import { HEADER_LENGTH } from '../../bitcoin/header';
import { damaged, putRecord, recordOf, type Records } from './layout';
import type { StorePut } from '../../store/store';
import type { Position } from '../types';

/** Offset and length of a transaction in its serialized block, in bytes. */
export interface Span {
  readonly offset: number;
  readonly length: number;
  readonly blockLength: number;
}

const LETTER = 'l'.charCodeAt(0);
export const GROUP_TRANSACTIONS = 256;
const LENGTHS_AT = 8;

function lengthsKey(height: number, group: number): Buffer {
  const key = Buffer.allocUnsafe(6);
  key.writeUInt8(LETTER);
  key.writeUInt32BE(height, 1);
  key.writeUInt8(group, 5);
  return key;
}

/** The keys of a block with this number of transactions. */
export function lengthsKeys(height: number, transactionCount: number): Buffer[] {
  return Array.from({ length: Math.ceil(transactionCount / GROUP_TRANSACTIONS) }, (_, group) => lengthsKey(height, group));
}

/** The records of a block. `lengths`: those of its transactions, as integers of variable length. */
export function putLengths(height: number, lengths: Uint8Array, transactionCount: number, blockLength: number): StorePut[] {
  const writes: StorePut[] = [];
  // The transactions follow their number, a compact size: no block has MAX_TRANSACTIONS (position.ts), which would take five bytes.
  let offset = HEADER_LENGTH + (transactionCount < 0xfd ? 1 : 3);
  for (let at = 0; at < lengths.length;) {
    const [start, first] = [at, offset];
    for (let left = GROUP_TRANSACTIONS; left > 0 && at < lengths.length; left--) {
      for (let bits = 0, more = true; more; bits += 7) {
        const byte = lengths[at++] ?? 0;
        offset += (byte & 0x7f) << bits;
        more = byte >= 0x80;
      }
    }
    const record = Buffer.allocUnsafe(LENGTHS_AT + at - start);
    record.writeUInt32BE(first);
    record.writeUInt32BE(blockLength, 4);
    record.set(lengths.subarray(start, at), LENGTHS_AT);
    writes.push(putRecord(lengthsKey(height, writes.length), record));
  }
  return writes;
}

/** Offset and length of the transaction at a position in its serialized block. @throws DamagedIndexError */
export function spanOf(records: Records, { height, index }: Position): Span {
  const key = lengthsKey(height, Math.floor(index / GROUP_TRANSACTIONS));
  const value = records.get(key);
  if (value === undefined) throw damaged(key, 'lengths of transactions', 'none');
  const record = recordOf(key, value);
  if (record.length < LENGTHS_AT) throw damaged(key, 'an offset and a length', `${record.length} bytes`);
  let offset = record.readUInt32BE();
  let before = index % GROUP_TRANSACTIONS;
  // No block is so long that the length of a transaction has more than 28 bits.
  for (let at = LENGTHS_AT, length = 0, bits = 0; at < record.length; at++) {
    const byte = record[at] as number; // at < length
    length |= (byte & 0x7f) << bits;
    if (byte >= 0x80) {
      bits += 7;
      continue;
    }
    if (before-- === 0) return { offset, length, blockLength: record.readUInt32BE(4) };
    offset += length;
    length = bits = 0;
  }
  throw damaged(key, `more than ${index % GROUP_TRANSACTIONS} lengths`, `${(index % GROUP_TRANSACTIONS) - before}`);
}
