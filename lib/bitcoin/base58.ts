// Writes base58check of 20-byte hashes straight into a text (docs/decisions/addresses.md), and reads it.

import { hash256, shortChecksum } from './hash';
import type { TextWriter } from './text-writer';

const ALPHABET = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 'latin1');
const HASH160_LENGTH = 20;
const CHECKSUM_BYTES = 4;
const LENGTH = 1 + HASH160_LENGTH + CHECKSUM_BYTES;

/** Digits of one group: a number below 58^5 is a 32-bit integer. */
const GROUP_DIGITS = 5;
const GROUP = 58 ** GROUP_DIGITS;
/** Groups that 25 bytes need. */
const GROUPS = 7;
const LIMBS = (LENGTH + 1) >> 1;
/** Digits of the longest text. */
const MAX_DIGITS = 35;

/** A zero byte, version, hash, checksum. The zero byte makes them whole limbs, which are big-endian numbers of 16 bits. */
const padded = Buffer.alloc(LIMBS * 2);
const bytes = padded.subarray(padded.length - LENGTH);
const preimage = bytes.subarray(0, 1 + HASH160_LENGTH);
/** The groups of each limb's power of two, most significant first: the groups of a number are sums of them. */
const POWERS = Float64Array.from(Array.from({ length: LIMBS }, (_, limb) => groupsOf(1n << BigInt(16 * (LIMBS - 1 - limb)))).flat());
/** The sums stay below 2^53: a limb has 16 bits, a group 30, and there are 13 limbs. */
const sums = new Float64Array(GROUPS);
const digits = new Uint8Array(GROUPS * GROUP_DIGITS);

/** Writes base58 of the version byte, the 20 bytes of `source` from `start`, and their checksum. */
export function writeBase58Check(writer: TextWriter, version: number, source: Buffer, start = 0): void {
  bytes[0] = version;
  for (let i = 0; i < HASH160_LENGTH; i++) bytes[1 + i] = source[start + i] as number;
  bytes.writeUInt32BE(shortChecksum(preimage), 1 + HASH160_LENGTH);
  // Each leading zero byte is written as a separate digit, since it does not change the number.
  for (let i = 0; bytes[i] === 0; i++) writer.char(ALPHABET[0] as number);
  const first = fillDigits();
  writer.digits(digits, first, digits.length, ALPHABET);
}

/** Writes the bytes into `digits` as a number and returns the index of its first digit that is not zero. */
function fillDigits(): number {
  sums.fill(0);
  for (let limb = 0, power = 0; limb < LIMBS; limb++) {
    const value = ((padded[limb * 2] as number) << 8) | (padded[limb * 2 + 1] as number);
    for (let group = 0; group < GROUPS; group++, power++) sums[group] = (sums[group] as number) + value * (POWERS[power] as number);
  }
  let carry = 0;
  for (let group = GROUPS - 1, end = digits.length; group >= 0; group--) {
    const sum = (sums[group] as number) + carry;
    carry = Math.floor(sum / GROUP);
    let rest = (sum - carry * GROUP) | 0;
    for (let i = 0; i < GROUP_DIGITS; i++, rest = (rest / 58) | 0) digits[--end] = rest % 58;
  }
  let first = 0;
  while (digits[first] === 0) first++;
  return first;
}

function groupsOf(value: bigint): number[] {
  return Array.from({ length: GROUPS }, (_, i) => Number((value / BigInt(GROUP) ** BigInt(GROUPS - 1 - i)) % BigInt(GROUP)));
}

/** White space as C has it; nothing in it matches in two ways. */
const SURROUNDED = /^[\t-\r ]*(?:([^\t-\r ]+)[\t-\r ]*)?$/;

/** The text without the white space around it; the text itself if there is some within. */
export function base58Within(text: string): string {
  const [, inner = ''] = SURROUNDED.exec(text) ?? [text, text];
  return inner;
}

/** Base58 has this many digits for a byte, and fewer for a zero byte at the beginning. */
const DIGITS_PER_BYTE = Math.log(256) / Math.log(58);

/**
 * The bytes of a text in base58, checksum included, and whether that is right. Undefined: the text is not in base58, or has more than
 * `most` bytes.
 */
export function readAnyBase58(text: string, most: number): { readonly bytes: Buffer; readonly hasChecksum: boolean } | undefined {
  if (text.length > Math.ceil(most * DIGITS_PER_BYTE)) return undefined;
  const read = numberOf(text);
  if (read === undefined) return undefined;
  const { value, zeros } = read;
  const digits = value === 0n ? '' : value.toString(16);
  const bytes = Buffer.concat([Buffer.alloc(zeros), Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')]);
  if (bytes.length > most) return undefined;
  const checked = bytes.subarray(0, -CHECKSUM_BYTES);
  return {
    bytes,
    hasChecksum: bytes.length >= CHECKSUM_BYTES && hash256(checked).compare(bytes, checked.length, bytes.length, 0, CHECKSUM_BYTES) === 0
  };
}

/** Reads 20 bytes and their version from base58check. Undefined: the text is something else, or its checksum is wrong. */
export function readBase58Check(text: string): { readonly version: number; readonly hash: Buffer } | undefined {
  if (text.length > MAX_DIGITS) return undefined;
  const decoded = numberOf(text);
  if (decoded === undefined) return undefined;
  const { value, zeros } = decoded;
  const number = value.toString(16);
  const significant = value === 0n ? 0 : (number.length + 1) >> 1;
  if (zeros + significant !== LENGTH) return undefined;
  const read = Buffer.from(number.padStart(LENGTH * 2, '0'), 'hex');
  const checked = read.subarray(0, 1 + HASH160_LENGTH);
  if (read.readUInt32BE(checked.length) !== shortChecksum(checked)) return undefined;
  return { version: read[0] as number, hash: checked.subarray(1) }; // 25 bytes
}

/** A text in base58 as a number, and how many zero bytes it begins with. */
function numberOf(text: string): { readonly value: bigint; readonly zeros: number } | undefined {
  let value = 0n;
  let zeros = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const digit = code < 0x80 ? ALPHABET.indexOf(code) : -1;
    if (digit < 0) return undefined;
    if (digit === 0 && value === 0n) zeros++;
    value = value * 58n + BigInt(digit);
  }
  return { value, zeros };
}

/** Base58check of any bytes. */
export function base58Check(payload: Buffer): string {
  const checked = Buffer.concat([payload, hash256(payload).subarray(0, CHECKSUM_BYTES)]);
  const zeros = checked.findIndex((byte) => byte !== 0);
  let text = '';
  for (let value = BigInt(`0x${checked.toString('hex')}`); value > 0n; value /= 58n)
    text = String.fromCharCode(ALPHABET[Number(value % 58n)] ?? 0) + text;
  return '1'.repeat(Math.max(0, zeros)) + text;
}
