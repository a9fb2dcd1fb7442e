// Segwit addresses: bech32 (BIP173) for version 0, bech32m (BIP350) for the later ones,
// written straight into text (docs/decisions/addresses.md).

import type { TextWriter } from './text-writer';

const ALPHABET = Buffer.from('qpzry9x8gf2tvdw0s3jn54khce6mua7l', 'latin1');
const SEPARATOR = 0x31;
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const BECH32_CONSTANT = 1;
const BECH32M_CONSTANT = 0x2bc830a3;
const CHECKSUM_SYMBOLS = 6;

/** By the five bits that leave the checksum: what is added to the rest. */
const FEEDBACK = Uint32Array.from({ length: 32 }, (_, top) =>
  GENERATORS.reduce((sum, generator, bit) => (((top >> bit) & 1) === 1 ? sum ^ generator : sum), 0)
);

/** The five-bit symbols of one address: version, program, checksum; at most 1 + 64 + 6. */
const symbols = new Uint8Array(71);

/** Adds a five-bit symbol to the checksum. */
function step(checksum: number, symbol: number): number {
  return ((checksum & 0x1ffffff) << 5) ^ symbol ^ (FEEDBACK[checksum >>> 25] as number);
}

function checksumOfPrefix(prefix: string): number {
  let checksum = 1;
  for (let i = 0; i < prefix.length; i++) checksum = step(checksum, prefix.charCodeAt(i) >> 5);
  checksum = step(checksum, 0);
  for (let i = 0; i < prefix.length; i++) checksum = step(checksum, prefix.charCodeAt(i) & 31);
  return checksum;
}

/**
 * Writes the address of the witness program from `start` to before `end` of `source`: 2 to 40
 * bytes. `version` is 0 to 16, `prefix` lowercase.
 */
export function writeSegwitAddress(
  writer: TextWriter,
  prefix: string,
  version: number,
  source: Buffer,
  start = 0,
  end = source.length
): void {
  writer.ascii(prefix);
  writer.char(SEPARATOR);
  symbols[0] = version;
  let count = 1 + fillSymbols(source, start, end);
  let checksum = checksumOfPrefix(prefix);
  for (let i = 0; i < count; i++) checksum = step(checksum, symbols[i] as number);
  for (let i = 0; i < CHECKSUM_SYMBOLS; i++) checksum = step(checksum, 0);
  checksum ^= version === 0 ? BECH32_CONSTANT : BECH32M_CONSTANT;
  for (let shift = 25; shift >= 0; shift -= 5) symbols[count++] = (checksum >> shift) & 31;
  writer.digits(symbols, 0, count, ALPHABET);
}

/** Writes the bytes in groups of five bits after the version, and returns how many groups there are. */
function fillSymbols(source: Buffer, start: number, end: number): number {
  let count = 0;
  let bits = 0;
  let pending = 0;
  for (let i = start; i < end; i++) {
    bits = ((bits << 8) | (source[i] as number)) & 0xfff;
    for (pending += 8; pending >= 5; pending -= 5) symbols[++count] = (bits >> (pending - 5)) & 31;
  }
  if (pending > 0) symbols[++count] = (bits << (5 - pending)) & 31;
  return count;
}
