// What the records under a transaction's place say about it: a coin, and its bytes in the block.

import { HEADER_LENGTH } from '../../bitcoin/header';
import { GROUP_SIZE, readCoin } from './coin-record';
import { coinKey, damaged, recordOf, type Position } from './layout';
import { RecordReader } from './variable-integer';
import type { Coin } from '../types';

const MOST_OUTPUTS = 0x1_0000 * GROUP_SIZE;

/** The key of the record that an output's coin is in. A key of no coin for an index that no transaction reaches. */
export function coinKeyOf(place: Position, index: number): Buffer {
  return coinKey(place, Math.floor(Math.min(index, MOST_OUTPUTS - 1) / GROUP_SIZE));
}

/** The coin of output `index`, if it is in the record. @throws DamagedIndexError */
export function coinIn(key: Buffer, stored: Buffer, { height, index: position }: Position, index: number): Coin | undefined {
  if (index >= MOST_OUTPUTS) return undefined;
  const reader = new RecordReader(recordOf(key, stored));
  while (!reader.atEnd) {
    const { slot, value, script } = readCoin(reader);
    if (slot === index % GROUP_SIZE) return { height, coinbase: position === 0, value, script };
  }
  return undefined;
}

export interface Span {
  /** From the start of the serialized block. */
  readonly offset: number;
  readonly length: number;
  readonly blockLength: number;
}

/** Where the transaction at a position lies in its serialized block. @throws DamagedIndexError */
export function spanOf(key: Buffer, stored: Buffer, position: number): Span {
  const reader = new RecordReader(recordOf(key, stored));
  let [count, before, length, all] = [0, 0, -1, 0];
  for (; !reader.atEnd; count++) {
    const next = reader.integer();
    if (count === position) [before, length] = [all, next];
    all += next;
  }
  if (length < 0) throw damaged(key, `more than ${position} lengths`, `${count}`);
  const start = HEADER_LENGTH + compactSizeLength(count);
  return { offset: start + before, length, blockLength: start + all };
}

function compactSizeLength(size: number): number {
  return size < 0xfd ? 1 : size < 0x1_0000 ? 3 : 5;
}
