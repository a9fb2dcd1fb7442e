// Amounts in satoshis, packed into 1 to 9 bytes much as Bitcoin Core packs its own (compressor.h). The first byte has the number
// of trailing decimal zeros in its low four bits, and above them the low three bits of the amount without these zeros. If its top
// bit is set, the remaining bits follow (variable-integer.ts).

import { LONGEST_INTEGER, writeInteger, type RecordReader } from './variable-integer';

/** Bytes that an amount up to 2^53 - 1 takes at most. */
export const LONGEST_AMOUNT = 1 + LONGEST_INTEGER;

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

/** @throws DamagedIndexError where the bytes end too early. */
export function readAmount(reader: RecordReader): number {
  const first = reader.byte();
  const rest = ((first >> 4) & 7) + (first < 0x80 ? 0 : reader.integer() * 8);
  return rest * 10 ** (first & 15);
}

/** Where the amount that begins at `at` ends. The bytes must be sound. */
export function amountEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  while ((bytes[end++] as number) >= 0x80);
  return end;
}
