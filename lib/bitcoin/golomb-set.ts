// Golomb-coded sets (BIP158): the hashes of some elements are mapped to a range that grows with their number, and put in ascending
// order. The set is their number as a compact size, then the distances from one to the next as Golomb-Rice codes. It tells whether an
// element may be in it: one of 784,931 elements that are not in it seems to be.
//
// Nothing here needs BigInt: hashes are pairs of 32-bit words, and the numbers in the set have less than 53 bits.

import { LONGEST_COMPACT_SIZE, writeCompactSize } from './reader';
import { HIGH, LOW } from './siphash';

/** Bits of the remainder of a code. */
const P = 19;
/** How many numbers the range has for each element. */
const M = 784_931;

/** With more elements the range would have more than 42 bits (`spread`). No block has that many outputs and inputs. */
const MOST_ELEMENTS = 0x40_0000;

/** Elements between two yields: some tenths of a millisecond. */
const ELEMENTS_PER_SLICE = 4_096;

/**
 * The serialized set of elements with these hashes, two words each (siphash.ts); the same hash counts once. Yields now and then.
 * Sorts `hashes` in place. @throws RangeError for more elements than a block can have.
 */
export function* encodeGolombSet(hashes: Uint32Array<ArrayBuffer>): Generator<void, Buffer> {
  new BigUint64Array(hashes.buffer, hashes.byteOffset, hashes.length >> 1).sort();
  const count = dropRepeated(hashes);
  if (count > MOST_ELEMENTS) throw new RangeError(`expected at most ${MOST_ELEMENTS} elements, got ${count}`);
  const range = count * M;
  // The quotients of all codes together are at most the range divided by 2^P; each code has a zero and P bits besides.
  const bytes = Buffer.allocUnsafe(LONGEST_COMPACT_SIZE + Math.ceil((range / 2 ** P + count * (P + 1)) / 8) + 1);
  const writer = new BitWriter(bytes, writeCompactSize(bytes, count, 0));
  let last = 0;
  for (let i = 0; i < count; i++) {
    if (i % ELEMENTS_PER_SLICE === ELEMENTS_PER_SLICE - 1) yield;
    const number = spread(hashes[2 * i + HIGH] as number, hashes[2 * i + LOW] as number, range); // 2 * count words
    writer.code(number - last);
    last = number;
  }
  return bytes.subarray(0, writer.end());
}

/** Keeps each pair of words once, at the front. Returns how many pairs are left. */
function dropRepeated(sorted: Uint32Array): number {
  let end = 0;
  for (let at = 0; at < sorted.length; at += 2) {
    if (end > 0 && sorted[at] === sorted[end - 2] && sorted[at + 1] === sorted[end - 1]) continue;
    sorted[end++] = sorted[at] as number; // at < length, and there are pairs
    sorted[end++] = sorted[at + 1] as number;
  }
  return end >> 1;
}

const WORD = 2 ** 32;
const HALF_RANGE = 2 ** 21;
const REST = 2 ** 11;

/**
 * hash * range / 2^64, rounded down. The hash has 64 bits and the range at most 42, which are multiplied in two parts of 21 bits, so
 * that no product has more than 53.
 */
function spread(high: number, low: number, range: number): number {
  const upper = Math.floor(range / HALF_RANGE);
  const lower = range - upper * HALF_RANGE;
  // low * range / 2^32: low * upper * 2^21 is split into a multiple of 2^32 and a remainder.
  let product = low * upper;
  let quotient = Math.floor(product / REST);
  const carried = quotient + Math.floor(((product - quotient * REST) * HALF_RANGE + low * lower) / WORD);
  // (high * range + carried) / 2^32
  product = high * upper;
  quotient = Math.floor(product / REST);
  const least = high * lower;
  const whole = Math.floor(least / WORD);
  return quotient + whole + Math.floor(((product - quotient * REST) * HALF_RANGE + (least - whole * WORD) + carried) / WORD);
}

/** Writes bits, the highest of each byte first. */
class BitWriter {
  readonly #bytes: Buffer;
  #at: number;
  /** Bits that do not fill a byte yet. */
  #pending = 0;
  #pendingBits = 0;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Writes the quotient as ones, then a zero, then the remainder. */
  code(value: number): void {
    let ones = Math.floor(value / 2 ** P);
    const remainder = value - ones * 2 ** P;
    for (; ones > 16; ones -= 16) this.#write(0xffff, 16);
    this.#write((1 << ones) - 1, ones);
    this.#write(remainder, P + 1);
  }

  /** Fills the last byte with zeros. Returns where the bytes end. */
  end(): number {
    if (this.#pendingBits > 0) this.#write(0, 8 - this.#pendingBits);
    return this.#at;
  }

  /** `width`: at most 20. */
  #write(value: number, width: number): void {
    let pending = (this.#pending << width) | value;
    let bits = this.#pendingBits + width;
    for (; bits >= 8; bits -= 8) this.#bytes[this.#at++] = pending >>> (bits - 8);
    pending &= (1 << bits) - 1;
    this.#pending = pending;
    this.#pendingBits = bits;
  }
}
