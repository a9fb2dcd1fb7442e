// Where transactions lie in their serialized blocks.
//
//   'l' height 4    lengths of the block's transactions, in order (variable-integer.ts)

import { HEADER_LENGTH } from '../../bitcoin/header';
import { damaged, keyOfHeight, recordOf, type Records } from './layout';
import type { Position } from './position';

export interface Span {
  /** From the start of the serialized block. */
  readonly offset: number;
  readonly length: number;
  readonly blockLength: number;
}

export const lengthsKey = keyOfHeight('l');

/** Where the transaction at a position lies in its serialized block. @throws DamagedIndexError */
export function spanOf(records: Records, { height, index }: Position): Span {
  const key = lengthsKey(height);
  const value = records.get(key);
  if (value === undefined) throw damaged(key, 'lengths of transactions', 'none');
  const record = recordOf(key, value);
  let [count, before, length, all] = [0, 0, -1, 0];
  // All of them, since the length of the block is their sum: a loop over thousands of bytes, which calls nothing.
  // No block is so long that the length of a transaction has more than 28 bits.
  for (let at = 0, next = 0, bits = 0; at < record.length; at++) {
    const byte = record[at] as number; // at < length
    next |= (byte & 0x7f) << bits;
    if (byte >= 0x80) {
      bits += 7;
      continue;
    }
    if (count === index) [before, length] = [all, next];
    all += next;
    count++;
    next = bits = 0;
  }
  if (length < 0) throw damaged(key, `more than ${index} lengths`, `${count}`);
  const start = HEADER_LENGTH + (count < 0xfd ? 1 : count < 0x1_0000 ? 3 : 5); // the number of transactions stands before them
  return { offset: start + before, length, blockLength: start + all };
}
