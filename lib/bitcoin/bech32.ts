// Segwit addresses: bech32 (BIP173) for version 0, bech32m (BIP350) for the later ones,
// written straight into a text (docs/decisions/addresses.md), and read.

import type { TextWriter } from './text-writer';

export const BECH32_ALPHABET = Buffer.from('qpzry9x8gf2tvdw0s3jn54khce6mua7l', 'latin1');
const SEPARATOR = 0x31;
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
export const BECH32_CONSTANT = 1;
export const BECH32M_CONSTANT = 0x2bc830a3;
export const CHECKSUM_SYMBOLS = 6;
export const MAX_LENGTH = 90;
const MAX_VERSION = 16;
const SHORTEST_PROGRAM = 2;
const LONGEST_PROGRAM = 40;

/** What is added to the checksum, by the five bits that are shifted out of it. */
const FEEDBACK = Uint32Array.from({ length: 32 }, (_, top) =>
  GENERATORS.reduce((sum, generator, bit) => (((top >> bit) & 1) === 1 ? sum ^ generator : sum), 0)
);

/** The five-bit symbols of one address: version, program, checksum; at most 1 + 64 + 6. */
const symbols = new Uint8Array(71);

/** The five bits for which a character in lowercase stands; undefined: none. */
export function symbolOf(code: number): number | undefined {
  const symbol = code < 0x80 ? BECH32_ALPHABET.indexOf(code) : -1;
  return symbol < 0 ? undefined : symbol;
}

/** Adds a five-bit symbol to the checksum. */
export function step(checksum: number, symbol: number): number {
  return ((checksum & 0x1ffffff) << 5) ^ symbol ^ (FEEDBACK[checksum >>> 25] as number);
}

/** The checksum after the human-readable part, in lowercase. */
export function checksumOfPrefix(prefix: string): number {
  let checksum = 1;
  for (let i = 0; i < prefix.length; i++) checksum = step(checksum, prefix.charCodeAt(i) >> 5);
  checksum = step(checksum, 0);
  for (let i = 0; i < prefix.length; i++) checksum = step(checksum, prefix.charCodeAt(i) & 31);
  return checksum;
}

/**
 * Writes the address of the witness program from `start` to before `end` of `source`: 2 to 40
 * bytes. `version` is 0 to 16, `prefix` lowercase. `variant`: another checksum than that of the version, for software that does not know
 * BIP350.
 */
export function writeSegwitAddress(
  writer: TextWriter,
  prefix: string,
  version: number,
  source: Buffer,
  start = 0,
  end = source.length,
  variant: Bech32Text['variant'] = version === 0 ? 'bech32' : 'bech32m'
): void {
  writer.ascii(prefix);
  writer.char(SEPARATOR);
  symbols[0] = version;
  let count = 1 + fillSymbols(source, start, end);
  let checksum = checksumOfPrefix(prefix);
  for (let i = 0; i < count; i++) checksum = step(checksum, symbols[i] as number);
  for (let i = 0; i < CHECKSUM_SYMBOLS; i++) checksum = step(checksum, 0);
  checksum ^= variant === 'bech32' ? BECH32_CONSTANT : BECH32M_CONSTANT;
  for (let shift = 25; shift >= 0; shift -= 5) symbols[count++] = (checksum >> shift) & 31;
  writer.digits(symbols, 0, count, BECH32_ALPHABET);
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

/** A text whose checksum is right. */
export interface Bech32Text {
  /** In lowercase. */
  readonly prefix: string;
  /** Five bits each, without those of the checksum. */
  readonly symbols: Uint8Array;
  readonly variant: 'bech32' | 'bech32m';
}

export interface WitnessProgram {
  /** Human-readable part of the address, in lowercase. */
  readonly prefix: string;
  /** 0 to 16. */
  readonly version: number;
  readonly program: Buffer;
}

/** Reads bech32 or bech32m of at most 90 characters, in one case. Undefined: the text is neither, or its checksum is wrong. */
export function readBech32(text: string): Bech32Text | undefined {
  const lower = text.toLowerCase();
  const separator = text.lastIndexOf('1');
  const count = text.length - separator - 1;
  if (text.length > MAX_LENGTH || separator < 1 || count < CHECKSUM_SYMBOLS) return undefined;
  if ((text !== lower && text !== text.toUpperCase()) || !/^[!-~]+$/.test(text)) return undefined;
  const prefix = lower.slice(0, separator);
  const symbols = Uint8Array.from({ length: count }, (_, i) => BECH32_ALPHABET.indexOf(lower.charCodeAt(separator + 1 + i)) & 0xff);
  let checksum = checksumOfPrefix(prefix);
  for (const symbol of symbols) {
    if (symbol >= BECH32_ALPHABET.length) return undefined;
    checksum = step(checksum, symbol);
  }
  if (checksum !== BECH32_CONSTANT && checksum !== BECH32M_CONSTANT) return undefined;
  return { prefix, symbols: symbols.subarray(0, -CHECKSUM_SYMBOLS), variant: checksum === BECH32_CONSTANT ? 'bech32' : 'bech32m' };
}

/** Reads the address of a witness program with any prefix. Undefined: the text is no such address. */
export function readSegwitAddress(text: string): WitnessProgram | undefined {
  const read = readBech32(text);
  const version = read?.symbols[0];
  if (read === undefined || version === undefined || version > MAX_VERSION) return undefined;
  const program = bytesOfSymbols(read.symbols.subarray(1));
  if (program === undefined || program.length < SHORTEST_PROGRAM || program.length > LONGEST_PROGRAM) return undefined;
  if (version === 0 && program.length !== 20 && program.length !== 32) return undefined;
  if ((read.variant === 'bech32') !== (version === 0)) return undefined;
  return { prefix: read.prefix, version, program };
}

/** The bytes that the symbols make up; undefined unless the bits left over are fewer than a symbol's, and all zero. */
export function bytesOfSymbols(groups: Uint8Array): Buffer | undefined {
  const bytes = Buffer.alloc((groups.length * 5) >> 3);
  let bits = 0;
  let pending = 0;
  let at = 0;
  for (const group of groups) {
    bits = ((bits << 5) | group) & 0xfff;
    pending += 5;
    if (pending < 8) continue;
    pending -= 8;
    bytes[at++] = bits >> pending;
  }
  return pending < 5 && (bits & ((1 << pending) - 1)) === 0 ? bytes : undefined;
}
