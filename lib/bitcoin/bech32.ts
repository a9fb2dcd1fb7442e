// Segwit addresses: bech32 (BIP173) for version 0, bech32m (BIP350) for the later ones,
// written straight into text (docs/decisions/addresses.md).

import type { TextWriter } from './text-writer';

const ALPHABET = Buffer.from('qpzry9x8gf2tvdw0s3jn54khce6mua7l', 'latin1');
const SEPARATOR = 0x31;
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const BECH32_CONSTANT = 1;
const BECH32M_CONSTANT = 0x2bc830a3;
const CHECKSUM_SYMBOLS = 6;

/** What the five bits that leave the checksum feed back, for all 32 cases. */
const FEEDBACK = Uint32Array.from({ length: 32 }, (_, top) =>
  GENERATORS.reduce((sum, generator, bit) => (top >> bit & 1) === 1 ? sum ^ generator : sum, 0));

/** Adds a five-bit symbol to the checksum. */
function step(checksum: number, symbol: number): number {
  return (checksum & 0x1ffffff) << 5 ^ symbol ^ (FEEDBACK[checksum >>> 25] as number);
}

function checksumOfPrefix(prefix: string): number {
  let checksum = 1;
  for (let i = 0; i < prefix.length; i++)
    checksum = step(checksum, prefix.charCodeAt(i) >> 5);
  checksum = step(checksum, 0);
  for (let i = 0; i < prefix.length; i++)
    checksum = step(checksum, prefix.charCodeAt(i) & 31);
  return checksum;
}

/**
 * Writes the address of the witness program that begins at `start` of `source` and ends with
 * it: 2 to 40 bytes. `version` is 0 to 16, `prefix` lowercase.
 */
export function writeSegwitAddress(writer: TextWriter, prefix: string, version: number, source: Buffer, start = 0): void {
  writer.ascii(prefix);
  writer.char(SEPARATOR);
  let checksum = checksumOfPrefix(prefix);
  const symbol = (value: number): void => {
    checksum = step(checksum, value);
    writer.char(ALPHABET[value] as number);
  };
  symbol(version);
  let bits = 0;
  let count = 0;
  for (let i = start; i < source.length; i++) {
    bits = (bits << 8 | (source[i] as number)) & 0xfff;
    for (count += 8; count >= 5; count -= 5)
      symbol(bits >> count - 5 & 31);
  }
  if (count > 0)
    symbol(bits << 5 - count & 31);
  for (let i = 0; i < CHECKSUM_SYMBOLS; i++)
    checksum = step(checksum, 0);
  checksum ^= version === 0 ? BECH32_CONSTANT : BECH32M_CONSTANT;
  for (let shift = 25; shift >= 0; shift -= 5)
    writer.char(ALPHABET[checksum >> shift & 31] as number);
}
