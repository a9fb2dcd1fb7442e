// MuHash3072, the hash of a set (crypto/muhash.h of Bitcoin Core): each element becomes a number of 3,072 bits, and the hash is that of the
// product of all. So elements can be added in any order, and the products of parts can be multiplied.

import { createCipheriv } from 'node:crypto';
import { sha256 } from './hash';

const NUMBER_BYTES = 384;
const NUMBER_BITS = NUMBER_BYTES * 8;
/** The modulus is the largest prime of 3,072 bits: 2^3072 less this. */
const BELOW_POWER = 1_103_717n;
const MODULUS = (1n << BigInt(NUMBER_BITS)) - BELOW_POWER;

/** A number is as much of the key stream of ChaCha20 as it has bytes; the key is SHA-256 of the element, counter and nonce are 0. */
const ZEROS = Buffer.alloc(NUMBER_BYTES);
const START = Buffer.alloc(16);

/** A set to which elements are added, and its hash. An element that is added twice counts twice. */
export class MuHash {
  #product = 1n;

  /** Adds an element. */
  insert(element: Uint8Array): void {
    const key = sha256(element);
    this.#multiply(numberOf(createCipheriv('chacha20', key, START).update(ZEROS)));
  }

  /** Adds the elements of another set. `part`: its `part`. */
  combine(part: Uint8Array): void {
    this.#multiply(numberOf(Buffer.from(part)));
  }

  /** The product of all numbers so far, 384 bytes, little endian. */
  get part(): Buffer {
    return bytesOf(this.#product % MODULUS);
  }

  /** The hash, 32 bytes in wire order. */
  digest(): Buffer {
    return sha256(this.part);
  }

  /** What is above 2^3072 is that many times `BELOW_POWER`. Twice, since the first time leaves up to 21 bits there. */
  #multiply(number: bigint): void {
    const product = this.#product * number;
    const less = BigInt.asUintN(NUMBER_BITS, product) + (product >> BigInt(NUMBER_BITS)) * BELOW_POWER;
    this.#product = BigInt.asUintN(NUMBER_BITS, less) + (less >> BigInt(NUMBER_BITS)) * BELOW_POWER;
  }
}

/** `bytes`: 384, little endian; they are reversed in place. */
function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.reverse().toString('hex')}`);
}

function bytesOf(number: bigint): Buffer {
  return Buffer.from(number.toString(16).padStart(2 * NUMBER_BYTES, '0'), 'hex').reverse();
}
