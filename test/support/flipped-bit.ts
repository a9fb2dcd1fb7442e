// Rot: one bit of a file that others have open, changed in its place.

import { open } from 'node:fs/promises';

/** `pick`: which bit, counted from the first one and again from there behind the last. */
export async function flipBit(path: string, pick: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const bit = pick % (size * 8);
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, bit >> 3);
    byte.writeUInt8(byte.readUInt8() ^ (1 << (bit & 7)));
    await file.write(byte, 0, 1, bit >> 3);
  } finally {
    await file.close();
  }
}
