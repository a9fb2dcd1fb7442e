// The `.hex` format: lowercase hex of the bytes and a line feed. Digits are made by Node, as
// text of some ten thousand characters at a time: a loop of ours takes as long at best, and
// several times as long where it is compiled into a generator.

import { ownMemory, type Allocate } from '../bitcoin/text-writer';

const LINE_FEED = 0x0a;

/** Bytes whose digits are made at once. */
const PORTION = 0x8000;

/** Bytes after which a long line lets others have their turn. */
const SLICE = 4 * PORTION;

/** In memory of its own, ready to be sent: a string would cost a second pass over it. Yields within long ones. */
export function* hexLine(bytes: Buffer, allocate: Allocate = ownMemory): Generator<void, Buffer> {
  const { length } = bytes;
  const line = allocate(length * 2 + 1);
  for (let start = 0; start < length; start += PORTION) {
    if (start > 0 && start % SLICE === 0)
      yield;
    line.write(bytes.toString('hex', start, start + PORTION), start * 2, 'latin1');
  }
  line[length * 2] = LINE_FEED;
  return line.subarray(0, length * 2 + 1);
}

/** The digits alone. */
export function hexDigits(bytes: Buffer): Buffer {
  const digits = Buffer.allocUnsafeSlow(bytes.length * 2);
  digits.write(bytes.toString('hex'), 'latin1');
  return digits;
}
