// The `.hex` format: lowercase hex of the bytes and a line feed. Digits are looked up for two bytes
// at a time, which takes half the time that Node takes for a string and its bytes.

import { anyMemory, type Allocate } from '../bitcoin/text-writer';
import { LINE_FEED } from './json-writer';

/** Bytes between two yields in a long line. */
const SLICE = 0x2_0000;

/** The four digits of any two bytes, digits and bytes in the order in which they are in memory. */
const ALL_PAIRS = Uint16Array.from({ length: 0x1_0000 }, (_, pair) => pair);
const DIGITS_OF_PAIR = new Uint32Array(Buffer.from(Buffer.from(ALL_PAIRS.buffer).toString('hex'), 'latin1').buffer);

/** A copy of the bytes of a slice, so that pairs begin at even addresses. */
const pairs = new Uint16Array(SLICE / 2);
const pairBytes = Buffer.from(pairs.buffer);

/** The line as bytes, ready to be sent: a string would cost a second pass. Yields within long lines. */
export function* hexLine(bytes: Buffer, allocate: Allocate = anyMemory): Generator<void, Buffer> {
  const { length } = bytes;
  // With an odd number of bytes the last one is half of a pair.
  const line = allocate(length * 2 + 4);
  for (let start = 0; start < length; start += SLICE) {
    if (start > 0) yield;
    const copied = bytes.copy(pairBytes, 0, start, start + SLICE);
    const count = (copied + 1) >> 1;
    writeDigits(new Uint32Array(line.buffer, line.byteOffset + start * 2, count), count);
  }
  line[length * 2] = LINE_FEED;
  return line.subarray(0, length * 2 + 1);
}

/** A separate function, since within a generator the loop takes several times as long. */
function writeDigits(digits: Uint32Array, count: number): void {
  for (let i = 0; i < count; i++) digits[i] = DIGITS_OF_PAIR[pairs[i] as number] as number;
}
