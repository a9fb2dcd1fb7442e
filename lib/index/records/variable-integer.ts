// Integers of variable length: seven bits to a byte, the lowest first, the top bit set in all
// bytes but the last (LEB128).

import { DamagedIndexError } from '../errors';

/** Bytes that an integer up to 2^53 - 1 takes at most. */
export const LONGEST_INTEGER = 8;

/** Writes an integer of 0 to 2^53 - 1 and returns where it ends. */
export function writeInteger(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  let left = value;
  for (; left >= 0x8000_0000; left = Math.floor(left / 0x80)) bytes[end++] = left % 0x80 | 0x80;
  // Most are small, and shifting is quicker than dividing.
  for (; left >= 0x80; left >>>= 7) bytes[end++] = left & 0x7f | 0x80;
  bytes[end++] = left;
  return end;
}

/** A cursor over integers and other bytes. Every read throws DamagedIndexError where the bytes end too early. */
export class RecordReader {
  constructor(readonly bytes: Buffer, public offset = 0) {}

  get atEnd(): boolean {
    return this.offset === this.bytes.length;
  }

  integer(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  }

  byte(): number {
    const byte = this.bytes[this.offset];
    if (byte === undefined) throw tooShort(1, this.offset, 0);
    this.offset++;
    return byte;
  }

  u16(): number {
    return this.take(2).readUInt16BE();
  }

  u32(): number {
    return this.take(4).readUInt32BE();
  }

  /** The next bytes, a view. */
  take(length: number): Buffer {
    const { bytes, offset } = this;
    if (length > bytes.length - offset) throw tooShort(length, offset, bytes.length - offset);
    this.offset += length;
    return bytes.subarray(offset, this.offset);
  }
}

function tooShort(length: number, offset: number, came: number): DamagedIndexError {
  return new DamagedIndexError(`a record is damaged: expected ${length} bytes at byte ${offset}, got ${came}`);
}
