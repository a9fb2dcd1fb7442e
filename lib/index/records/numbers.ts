// Numbers in as few bytes as they need; all but the last of these bytes have the top bit set.
//
// Integers are written as LevelDB writes them: seven bits to a byte, the lowest first (LEB128).
//
// Amounts in satoshis are packed into 1 to 9 bytes much as Bitcoin Core packs its own (compressor.h). The first byte has the number
// of trailing decimal zeros in its low four bits, and above them the low three bits of the amount without these zeros. The
// remaining bits, if there are any, follow as an integer.

import { DamagedIndexError } from '../../follow/errors';
import { LevelReader } from '../../store/leveldb-files/cursor';

/** Bytes that an integer up to 2^53 - 1 takes at most. */
export const LONGEST_INTEGER = 8;
/** Bytes that an amount up to 2^53 - 1 takes at most. */
export const LONGEST_AMOUNT = 1 + LONGEST_INTEGER;

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

/** Writes an amount and returns where it ends. */
export function writeAmount(bytes: Uint8Array, at: number, value: number): number {
  let [rest, zeros] = [value, 0];
  for (; zeros < 15 && rest !== 0 && rest % 10 === 0; zeros++) rest /= 10;
  const first = ((rest % 8) << 4) | zeros;
  if (rest < 8) {
    bytes[at] = first;
    return at + 1;
  }
  bytes[at] = first | 0x80;
  return writeInteger(bytes, at + 1, Math.floor(rest / 8));
}

/** Where the integer or amount that begins at `at` ends. The bytes must be sound. */
export function numberEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  while ((bytes[end++] as number) >= 0x80);
  return end;
}

/** The integer from `start` to `end` (`numberEnd`). */
export function integerIn(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = end - 1; at >= start; at--) value = value * 0x80 + ((bytes[at] as number) & 0x7f); // below the end
  return value;
}

/** The amount from `start` to `end` (`numberEnd`). */
export function amountIn(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start] as number; // before the end
  return (((first >> 4) & 7) + integerIn(bytes, start + 1, end) * 8) * (POWERS_OF_TEN[first & 15] as number); // there are 16
}

const POWERS_OF_TEN = Float64Array.from({ length: 16 }, (_, zeros) => 10 ** zeros);

/** A cursor over integers, amounts and other bytes of a record. Every read throws DamagedIndexError where the bytes end too early. */
export class RecordReader extends LevelReader {
  byte(): number {
    return this.bytes[this.skip(1)] as number; // skip() has checked the bounds
  }

  /** 2 bytes, big endian, unsigned. */
  u16(): number {
    return this.take(2).readUInt16BE();
  }

  /** 4 bytes, big endian, unsigned. */
  u32(): number {
    return this.take(4).readUInt32BE();
  }

  /** A packed amount (above), in satoshis. */
  amount(): number {
    const first = this.byte();
    const rest = ((first >> 4) & 7) + (first < 0x80 ? 0 : this.integer() * 8);
    return rest * (POWERS_OF_TEN[first & 15] as number); // there are 16
  }

  protected override error(message: string): Error {
    return new DamagedIndexError(`a record is damaged: ${message}`);
  }
}
