// Targets in their compact form ("bits"), the work they stand for, and difficulty.

import { MalformedBytesError } from './reader';

const SIGN_BIT = 0x0080_0000;
const MANTISSA = 0x007f_ffff;
const MAX_HASH = (1n << 256n) - 1n;

/** Exponent of the compact form in which difficulty 1 is 0x1d00ffff. */
const EXPONENT_OF_ONE = 29;

/** The target that a block's hash must not exceed; 0 where it is negative or has more than 256 bits. */
export function targetOf(bits: number): bigint {
  const exponent = bits >>> 24;
  const mantissa = BigInt(bits & MANTISSA);
  if ((bits & SIGN_BIT) !== 0) return 0n;
  const target = exponent <= 3 ? mantissa >> BigInt(8 * (3 - exponent)) : mantissa << BigInt(8 * (exponent - 3));
  return target > MAX_HASH ? 0n : target;
}

/** Expected number of hashes for a block of these bits (GetBlockProof); 0 for bits without a target. */
export function proofOf(bits: number): bigint {
  const target = targetOf(bits);
  return target === 0n ? 0n : (1n << 256n) / (target + 1n);
}

/**
 * How many times as hard a block is as with the easiest target of the main network. The steps are
 * those of Bitcoin Core, so that the double is the same to the last bit.
 * @throws MalformedBytesError for bits without mantissa.
 */
export function difficultyOf(bits: number): number {
  const mantissa = bits & 0x00ff_ffff;
  if (mantissa === 0) throw new MalformedBytesError('bits with a mantissa', bits.toString(16), 0);
  let difficulty = 0xffff / mantissa;
  let exponent = bits >>> 24;
  for (; exponent < EXPONENT_OF_ONE; exponent++) difficulty *= 256;
  for (; exponent > EXPONENT_OF_ONE; exponent--) difficulty /= 256;
  return difficulty;
}

/** The compact form of a target, as Bitcoin Core rounds it (arith_uint256::GetCompact). */
export function compactOf(target: bigint): number {
  let exponent = Math.ceil(target.toString(16).length / 2);
  let mantissa = Number(exponent <= 3 ? target << BigInt(8 * (3 - exponent)) : target >> BigInt(8 * (exponent - 3)));
  // The highest bit would be a sign.
  if ((mantissa & SIGN_BIT) !== 0) {
    mantissa >>= 8;
    exponent++;
  }
  return ((exponent << 24) | mantissa) >>> 0;
}

const WORD_BITS = 32n;
const WORD = 2 ** 32;

/** A number of up to 256 bits as a double, added up word by word as Bitcoin Core does (base_uint::getdouble). */
export function doubleOf(value: bigint): number {
  let [sum, factor] = [0, 1];
  for (let rest = value; rest > 0n; rest >>= WORD_BITS, factor *= WORD) sum += factor * Number(BigInt.asUintN(32, rest));
  return sum;
}
