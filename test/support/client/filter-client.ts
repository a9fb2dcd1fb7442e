// A light client's side of filters (BIP158): reads Golomb-coded sets, and asks them for scripts.

import { ByteReader } from '../../../lib/bitcoin/reader';
import { HIGH, LOW, SipHasher } from '../../../lib/bitcoin/siphash';

const P = 19;
const M = 784_931n;

/** Whether the filter of the block with this hash may have one of the scripts in it. */
export function filterMatchesAny(filter: Buffer, blockHash: Buffer, scripts: readonly Buffer[]): boolean {
  const numbers = decodeGolombSet(filter);
  const range = BigInt(numbers.length) * M;
  const hasher = new SipHasher(blockHash);
  const words = new Uint32Array(2);
  const there = new Set(numbers);
  return scripts.some((script) => {
    if (script.length === 0) return false;
    hasher.write(script, 0, script.length, words, 0);
    const hash = (BigInt(words[HIGH] ?? 0) << 32n) | BigInt(words[LOW] ?? 0);
    return there.has(Number((hash * range) >> 64n));
  });
}

/** The numbers in a serialized set, ascending. */
export function decodeGolombSet(set: Buffer): number[] {
  const start = new ByteReader(set);
  const count = start.compactSize();
  const next = bitsOf(set.subarray(start.offset));
  const numbers: number[] = [];
  let last = 0;
  while (numbers.length < count) {
    let number = 0;
    while (next() === 1) number += 2 ** P;
    for (let bit = P - 1; bit >= 0; bit--) number += next() * 2 ** bit;
    numbers.push((last += number));
  }
  return numbers;
}

/** Gives the bits, the highest of each byte first. */
function bitsOf(bytes: Buffer): () => number {
  let at = 0;
  return () => {
    const byte = bytes[at >> 3];
    if (byte === undefined) throw new RangeError('expected more codes');
    return (byte >> (7 - (at++ & 7))) & 1;
  };
}
