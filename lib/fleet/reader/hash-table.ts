// Hashes by height, from 0 up: 32 bytes each, in one buffer.

import { HASH_LENGTH } from '../../bitcoin/hash';

const LEAST_HASHES = 1_024;

export class HashTable {
  #bytes: Buffer;
  #count: number;

  constructor(bytes: Buffer = Buffer.alloc(LEAST_HASHES * HASH_LENGTH), count = 0) {
    this.#bytes = bytes;
    this.#count = count;
  }

  /** A copy; undefined if there is none. */
  at(height: number): Buffer | undefined {
    if (height < 0 || height >= this.#count) return undefined;
    return Buffer.from(this.#bytes.subarray(height * HASH_LENGTH, (height + 1) * HASH_LENGTH));
  }

  /** Copies the hash: 32 bytes, in wire order. */
  push(hash: Buffer): void {
    const end = this.#count * HASH_LENGTH;
    if (end === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * this.#bytes.length);
    hash.copy(this.#bytes, end);
    this.#count++;
  }

  /** Keeps the lowest ones. */
  cutTo(count: number): void {
    this.#count = Math.min(count, this.#count);
  }

  copy(): HashTable {
    return new HashTable(Buffer.from(this.#bytes), this.#count);
  }
}
