// The `.hex` format: lowercase hex of the bytes and a line feed.

const LINE_FEED = 0x0a;

/** Both digits of each byte in one 16-bit unit, in this machine's byte order. */
const DIGIT_PAIRS = new Uint16Array(256);
Buffer.from(DIGIT_PAIRS.buffer).write(Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')).join(''), 'latin1');

/** A buffer of its own, ready to be sent: a string would cost a second pass over it. */
export function hexLine(bytes: Buffer): Buffer {
  const { length } = bytes;
  const line = Buffer.allocUnsafeSlow(length * 2 + 1);
  const pairs = new Uint16Array(line.buffer, 0, length);
  for (let i = 0; i < length; i++)
    pairs[i] = DIGIT_PAIRS[bytes[i] as number] as number;
  line[length * 2] = LINE_FEED;
  return line;
}
