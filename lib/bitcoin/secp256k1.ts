// Which x coordinates are on the curve of Bitcoin's keys, secp256k1 (SEC 2): those for which x^3 + 7 is a square modulo P, which its
// Jacobi symbol tells. The symbol is computed by the division steps of Bernstein and Yang (https://eprint.iacr.org/2019/266), in the form
// that keeps both numbers positive, as in libsecp256k1: 24 steps on the lowest bits alone are then applied at once to the whole numbers.
// No number here is secret. A block has thousands of taproot outputs: this takes a quarter of the time of Euclid's algorithm on BigInts,
// and an even smaller part of the time of a square root by OpenSSL.

import { ECDH } from 'node:crypto';

const P = 2n ** 256n - 2n ** 32n - 977n;

/** Steps at once, and bits of a limb: all sums stay below 2^53. */
const LIMB_BITS = 24;
const LIMB = 1 << LIMB_BITS;
const LIMBS = 11;

/** Rounds of steps after which `jacobiSymbol` gives up: 31 are common, and more than 53 were never seen. */
const MOST_ROUNDS = 200;

/** What makes the lowest 8 bits of a sum zero: the negative inverse of the odd numbers below 256, modulo 256. */
const NEGATIVE_INVERSE = Uint8Array.from({ length: 128 }, (_, half) => {
  let inverse = 1;
  while (((2 * half + 1) * inverse) % 256 !== 255) inverse += 2;
  return inverse;
});

/** A number of 256 bits on its way into limbs, little endian. */
const words = new BigUint64Array(5);
const bytesOfWords = new Uint8Array(words.buffer);

const MODULUS = limbsOf(P, new Float64Array(LIMBS));
/** The two numbers of the Jacobi symbol; limbs are doubles because their products need more than 32 bits. */
const bottom = new Float64Array(LIMBS);
const top = new Float64Array(LIMBS);

/** True for a public key of BIP340 from `start` on: 32 bytes, big endian, the x coordinate of a point. */
export function isXOnlyKey(bytes: Buffer, start = 0): boolean {
  const digits = bytes.toString('hex', start, start + 32);
  const x = BigInt(`0x${digits}`);
  if (x >= P) return false;
  const symbol = jacobiSymbol((x * x * x + 7n) % P);
  return symbol === undefined ? isPoint(`02${digits}`) : symbol === 1;
}

function isPoint(key: string): boolean {
  try {
    ECDH.convertKey(key, 'secp256k1', 'hex');
    return true;
  } catch {
    return false;
  }
}

function limbsOf(value: bigint, limbs: Float64Array): Float64Array {
  for (let i = 0; i < 4; i++) words[i] = value >> BigInt(64 * i);
  for (let i = 0; i < LIMBS; i++) limbs[i] = byteAt(3 * i) | (byteAt(3 * i + 1) << 8) | (byteAt(3 * i + 2) << 16);
  return limbs;
}

function byteAt(at: number): number {
  return bytesOfWords[at] as number; // 33 of 40 bytes are asked for
}

/** The Jacobi symbol of a number modulo P, 1 or -1; undefined when it takes too long. */
function jacobiSymbol(value: bigint): number | undefined {
  bottom.set(MODULUS);
  limbsOf(value, top);
  let eta = -1;
  /** The lowest bit says whether the symbol is negative. */
  let sign = 0;
  let length = LIMBS;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    // 24 steps, which depend on no more than 27 bits: bottom becomes u * bottom + v * top, top q * bottom + r * top, both divided by 2^24.
    let f = lowBits(bottom);
    let g = lowBits(top);
    let [u, v, q, r] = [1, 0, 0, 1];
    for (let left = LIMB_BITS; ;) {
      const marked = g | (-1 << left);
      const zeros = 31 - Math.clz32(marked & -marked);
      g >>>= zeros;
      u <<= zeros;
      v <<= zeros;
      eta -= zeros;
      left -= zeros;
      // 2 is not a square modulo a number that is 3 or 5 modulo 8.
      sign ^= zeros & ((f >>> 1) ^ (f >>> 2));
      if (left === 0) break;
      if (eta < 0) {
        eta = -eta;
        // Quadratic reciprocity: the sign changes where both are 3 modulo 4.
        sign ^= (f & g) >>> 1;
        [f, g, u, v, q, r] = [g, f, q, r, u, v];
      }
      const bits = Math.min(eta + 1, left, 8);
      const times = Math.imul(g, NEGATIVE_INVERSE[(f >>> 1) & 127] as number) & ((1 << bits) - 1);
      g = (g + Math.imul(f, times)) | 0;
      q += u * times;
      r += v * times;
    }
    length = combine(length, u, v, q, r);
    if (isOne(bottom, length)) return (sign & 1) === 0 ? 1 : -1;
  }
  return undefined;
}

function lowBits(limbs: Float64Array): number {
  return (limbs[0] as number) | ((limbs[1] as number) << LIMB_BITS);
}

/** Replaces both numbers by their combinations, without the lowest limb, which is zero. Returns how many limbs are left. */
function combine(length: number, u: number, v: number, q: number, r: number): number {
  let f = 0;
  let g = 0;
  for (let i = 0; i < length; i++) {
    const [low, high] = [bottom[i] as number, top[i] as number];
    f += u * low + v * high;
    g += q * low + r * high;
    const [carryF, carryG] = [Math.floor(f / LIMB), Math.floor(g / LIMB)];
    if (i > 0) {
      bottom[i - 1] = f - carryF * LIMB;
      top[i - 1] = g - carryG * LIMB;
    }
    f = carryF;
    g = carryG;
  }
  bottom[length - 1] = f;
  top[length - 1] = g;
  return length > 2 && f === 0 && g === 0 ? length - 1 : length;
}

function isOne(limbs: Float64Array, length: number): boolean {
  if (limbs[0] !== 1) return false;
  for (let i = 1; i < length; i++) if (limbs[i] !== 0) return false;
  return true;
}
