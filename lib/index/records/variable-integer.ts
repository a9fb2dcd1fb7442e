// Integers of variable length, as LevelDB writes them too: seven bits to a byte, the lowest first, the top bit
// set in all bytes but the last (LEB128).

import { LevelReader } from '../../store/leveldb-files/cursor';
import { DamagedIndexError } from '../errors';

/** Bytes that an integer up to 2^53 - 1 takes at most. */
export const LONGEST_INTEGER = 8;

/** Writes an integer of 0 to 2^53 - 1 and returns where it ends. */
export function writeInteger(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  let left = value;
  for (; left >= 0x8000_0000; left = Math.floor(left / 0x80)) bytes[end++] = (left % 0x80) | 0x80;
  // Most integers are small, and shifting is quicker than dividing.
  for (; left >= 0x80; left >>>= 7) bytes[end++] = (left & 0x7f) | 0x80;
  bytes[end++] = left;
  return end;
}

/** A cursor over integers and other bytes of a record. Every read throws DamagedIndexError where the bytes end too early. */
export class RecordReader extends LevelReader {
  byte(): number {
    return this.bytes[this.skip(1)] as number; // skip() has checked the bounds
  }

  u16(): number {
    return this.take(2).readUInt16BE();
  }

  u32(): number {
    return this.take(4).readUInt32BE();
  }

  protected override error(message: string): Error {
    return new DamagedIndexError(`a record is damaged: ${message}`);
  }
}
