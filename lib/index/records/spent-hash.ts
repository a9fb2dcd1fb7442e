// A hash over the coins that a block spends. With it a reader of a fleet verifies undo records that come from elsewhere. An index has these
// records only where they are wanted, and only of the blocks that it took in itself. A block always spends the same coins, so its record
// stays when it is disconnected.
//
//   'i' block hash 32        SHA-256, cut to 20
//
// What is hashed, for each coin in the order of the inputs, coins that the block itself made included: its height * 2, + 1 if a coinbase
// made it, as an integer (numbers.ts); the coin (coin-record.ts) without the number of its output.

import { createHash, type Hash } from 'node:crypto';
import { LONGEST_INTEGER, writeInteger } from './numbers';
import { putRecord, recordOf, type Records } from './layout';
import type { StorePut, StoreRange } from '../../store/store';

/** Two sets of coins with the same hash take 2^80 tries, and they must be a block's. */
const HASH_LENGTH = 20;

const KEY_START = Buffer.from('i');

/** All records of this kind. */
export const SPENT_HASHES: StoreRange = { gte: KEY_START, lt: Buffer.from('j') };

const spentHashKey = (block: Uint8Array): Buffer => Buffer.concat([KEY_START, block]);

/** `block`: its hash, 32 bytes in wire order. `hash`: the 20 bytes that SpentHasher gives. */
export function putSpentHash(block: Uint8Array, hash: Buffer): StorePut {
  return putRecord(spentHashKey(block), hash);
}

/** undefined: the index has none of the block. @throws DamagedIndexError */
export function spentHashOf(records: Records, block: Buffer): Buffer | undefined {
  const key = spentHashKey(block);
  const value = records.get(key);
  return value && recordOf(key, value, HASH_LENGTH);
}

const BUFFER_LENGTH = 1 << 15;

/** Makes the hash of one block after another. */
export class SpentHasher {
  readonly #bytes = Buffer.allocUnsafeSlow(BUFFER_LENGTH);
  #length = 0;
  #hash: Hash | undefined;

  /** Adds the coin in `source` from `from` to `to`, as in a record. */
  add(height: number, isCoinbase: boolean, source: Uint8Array, from: number, to: number): void {
    const bytes = this.#bytes;
    if (this.#length + LONGEST_INTEGER + to - from > BUFFER_LENGTH) this.#flush();
    let at = writeInteger(bytes, this.#length, height * 2 + (isCoinbase ? 1 : 0));
    bytes[at++] = (source[from] as number) & ~OUTPUT_BITS; // a coin begins there
    if (to - from > BUFFER_LENGTH - LONGEST_INTEGER) {
      this.#length = at;
      this.#flush().update(source.subarray(from + 1, to));
      return;
    }
    for (let i = from + 1; i < to; i++) bytes[at++] = source[i] as number; // within the coin
    this.#length = at;
  }

  /** The hash of what was added since the last call. */
  take(): Buffer {
    const hash = this.#flush().digest().subarray(0, HASH_LENGTH);
    this.#hash = undefined;
    return hash;
  }

  #flush(): Hash {
    this.#hash ??= createHash('sha256');
    this.#hash.update(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return this.#hash;
  }
}

/** In a coin's first byte: which output of its group it is. */
const OUTPUT_BITS = 31;
