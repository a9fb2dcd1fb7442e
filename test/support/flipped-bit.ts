// Rot: flips one bit of a file in place, while LevelDB may have it open.

import { open } from 'node:fs/promises';

/** `pick`: number of the bit, modulo the number of bits. */
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
