// Base58check, written straight into text (docs/decisions/addresses.md).

import { hash256 } from './hash';
import type { TextWriter } from './text-writer';

const ALPHABET = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 'latin1');
const CHECKSUM_LENGTH = 4;

/** Digits that one division takes off: a remainder below 58^6 and 16 more bits stay below 2^53. */
const DIGITS_AT_ONCE = 6;
const DIVISOR = 58 ** DIGITS_AT_ONCE;

/** The number as big-endian 16-bit limbs. */
function limbsOf(bytes: Buffer): Uint16Array {
  const limbs = new Uint16Array(bytes.length + 1 >> 1);
  const odd = bytes.length & 1;
  for (let i = 0; i < bytes.length; i++) {
    const limb = i + odd >> 1;
    limbs[limb] = (limbs[limb] as number) << 8 | (bytes[i] as number);
  }
  return limbs;
}

/** Divides the limbs from `first` on by DIVISOR, in place, and returns the remainder. */
function divide(limbs: Uint16Array, first: number): number {
  let remainder = 0;
  for (let i = first; i < limbs.length; i++) {
    const value = remainder * 0x10000 + (limbs[i] as number);
    const quotient = Math.floor(value / DIVISOR);
    limbs[i] = quotient;
    remainder = value - quotient * DIVISOR;
  }
  return remainder;
}

/** Base58 digits of the number, least significant first, without its leading zeros. */
function digitsOf(limbs: Uint16Array): number[] {
  const digits: number[] = [];
  let first = 0;
  for (;;) {
    while (limbs[first] === 0)
      first++;
    if (first === limbs.length)
      break;
    let rest = divide(limbs, first);
    for (let i = 0; i < DIGITS_AT_ONCE; i++) {
      digits.push(rest % 58);
      rest = Math.floor(rest / 58);
    }
  }
  while (digits[digits.length - 1] === 0)
    digits.pop();
  return digits;
}

/** Writes base58 of the bytes: each leading zero byte is a `1`. */
export function writeBase58(writer: TextWriter, bytes: Buffer): void {
  for (let i = 0; bytes[i] === 0; i++)
    writer.char(ALPHABET[0] as number);
  const digits = digitsOf(limbsOf(bytes));
  for (let i = digits.length - 1; i >= 0; i--)
    writer.char(ALPHABET[digits[i] as number] as number);
}

/** Writes base58 of the version byte, the payload and the first four bytes of their hash256. */
export function writeBase58Check(writer: TextWriter, version: number, payload: Buffer): void {
  const bytes = Buffer.allocUnsafe(1 + payload.length + CHECKSUM_LENGTH);
  bytes[0] = version;
  payload.copy(bytes, 1);
  const end = bytes.length - CHECKSUM_LENGTH;
  hash256(bytes.subarray(0, end)).copy(bytes, end, 0, CHECKSUM_LENGTH);
  writeBase58(writer, bytes);
}
