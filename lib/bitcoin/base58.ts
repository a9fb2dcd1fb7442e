// Base58check of 20-byte hashes, written straight into text (docs/decisions/addresses.md).

import { shortChecksum } from './sha256';
import type { TextWriter } from './text-writer';

const ALPHABET = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 'latin1');
const HASH_LENGTH = 20;
const CHECKSUM_OFFSET = 1 + HASH_LENGTH;

/** Digits that one division takes off: a remainder below 58^5 is a 32-bit integer. */
const DIGITS_AT_ONCE = 5;
const DIVISOR = 58 ** DIGITS_AT_ONCE;

/** Version, hash, checksum. */
const bytes = Buffer.alloc(CHECKSUM_OFFSET + 4);
const preimage = bytes.subarray(0, CHECKSUM_OFFSET);
/** The same as a number: big-endian limbs of 16 bits. */
const limbs = new Uint16Array(bytes.length + 1 >> 1);
/** Its base58 digits, least significant first. */
const digits = new Uint8Array(40);

function loadLimbs(): void {
  limbs[0] = bytes[0] as number;
  for (let i = 1; i < limbs.length; i++)
    limbs[i] = (bytes[i * 2 - 1] as number) << 8 | (bytes[i * 2] as number);
}

/** Divides the limbs from `first` on by DIVISOR, in place, and returns the remainder. */
function divide(first: number): number {
  let remainder = 0;
  for (let i = first; i < limbs.length; i++) {
    const value = remainder * 0x10000 + (limbs[i] as number);
    const quotient = Math.floor(value / DIVISOR);
    limbs[i] = quotient;
    remainder = value - quotient * DIVISOR;
  }
  return remainder | 0;
}

/** Fills `digits` and returns how many there are, without leading zeros. */
function fillDigits(): number {
  let count = 0;
  for (let first = 0; first < limbs.length;) {
    if (limbs[first] === 0) {
      first++;
      continue;
    }
    let rest = divide(first);
    for (let i = 0; i < DIGITS_AT_ONCE; i++, rest = rest / 58 | 0)
      digits[count++] = rest % 58;
  }
  while (count > 0 && digits[count - 1] === 0)
    count--;
  return count;
}

/** Writes base58 of the version byte, the 20 bytes of `source` from `start`, and their checksum. */
export function writeBase58Check(writer: TextWriter, version: number, source: Buffer, start = 0): void {
  bytes[0] = version;
  for (let i = 0; i < HASH_LENGTH; i++)
    bytes[1 + i] = source[start + i] as number;
  bytes.writeUInt32BE(shortChecksum(preimage), CHECKSUM_OFFSET);
  // A leading zero byte is a digit of its own, and no part of the number.
  for (let i = 0; bytes[i] === 0; i++)
    writer.char(ALPHABET[0] as number);
  loadLimbs();
  for (let i = fillDigits() - 1; i >= 0; i--)
    writer.char(ALPHABET[digits[i] as number] as number);
}
