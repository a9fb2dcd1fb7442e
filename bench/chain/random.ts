// Randomness that is the same on every run: the key stream of AES-128 in counter mode.

import { createCipheriv } from 'node:crypto';

const ZEROS = Buffer.alloc(1_024 * 1_024);

export class Random {
  readonly #stream;
  #chunk = ZEROS;
  #at = ZEROS.length;

  constructor(seed: number) {
    const key = Buffer.alloc(16);
    key.writeUInt32LE(seed);
    this.#stream = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  }

  /** The next `count` bytes, up to a mebibyte; a view whose content does not change. */
  bytes(count: number): Buffer {
    if (count > this.#chunk.length - this.#at) {
      this.#chunk = this.#stream.update(ZEROS);
      this.#at = 0;
    }
    return this.#chunk.subarray(this.#at, (this.#at += count));
  }

  /** 0 <= x < 1. */
  unit(): number {
    return this.bytes(4).readUInt32LE() / 0x1_0000_0000;
  }

  /** An integer, 0 <= n < limit. */
  below(limit: number): number {
    return Math.floor(this.unit() * limit);
  }
}
