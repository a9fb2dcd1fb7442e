// The `.hex` format: lowercase hex of the bytes and a line feed.

const LINE_FEED = 0x0a;

/** Both digits of each byte in one 16-bit unit, in this machine's byte order. */
const DIGIT_PAIRS = new Uint16Array(256);
Buffer.from(DIGIT_PAIRS.buffer).write(Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')).join(''), 'latin1');

/** Bytes after which a long line lets others have their turn. */
const SLICE = 0x20000;

/** A buffer of its own, ready to be sent: a string would cost a second pass over it. Yields within long ones. */
export function* hexLine(bytes: Buffer): Generator<void, Buffer> {
  const { length } = bytes;
  const line = Buffer.allocUnsafeSlow(length * 2 + 1);
  const pairs = new Uint16Array(line.buffer, 0, length);
  for (let start = 0; start < length; start += SLICE) {
    if (start > 0)
      yield;
    writePairs(pairs, bytes, start, Math.min(start + SLICE, length));
  }
  line[length * 2] = LINE_FEED;
  return line;
}

/** The digits alone. */
export function hexDigits(bytes: Buffer): Buffer {
  const { length } = bytes;
  const digits = Buffer.allocUnsafeSlow(length * 2);
  writePairs(new Uint16Array(digits.buffer, 0, length), bytes, 0, length);
  return digits;
}

/** Not in the generator: there the loop takes several times as long. */
function writePairs(pairs: Uint16Array, bytes: Buffer, start: number, end: number): void {
  for (let i = start; i < end; i++)
    pairs[i] = DIGIT_PAIRS[bytes[i] as number] as number;
}
