// Rot: one bit of something is flipped. `pick`: number of the bit, modulo the number of bits.

import { open } from 'node:fs/promises';

/** In place, in a file that LevelDB may have open. */
export async function flipBit(path: string, pick: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const bit = pick % (size * 8);
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, bit >> 3);
    await file.write(flipped(byte, bit & 7), 0, 1, bit >> 3);
  } finally {
    await file.close();
  }
}

/** A copy of the bytes. */
export function flipped(bytes: Buffer, pick: number): Buffer {
  const copy = Buffer.from(bytes);
  const bit = pick % (copy.length * 8);
  copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return copy;
}
