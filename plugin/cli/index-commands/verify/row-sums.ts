// Sums over the rows of blocks, independent of the order of the rows: for each block the number of its rows, and the sum of 64 bits of
// the SHA-256 of each row.

import { hash } from 'node:crypto';
import { SCRIPT_HASH_LENGTH } from '../../../../lib/scripts/records/script-hasher';
import type { ScriptRows } from '../../../../lib/scripts/scan/rows';

const HEAD_LENGTH = SCRIPT_HASH_LENGTH + 2;

export class RowSums {
  readonly #counts: Uint32Array;
  /** Two numbers of 32 bits for each block. */
  readonly #sums: Uint32Array;
  /** The bytes that are hashed: hash of the script, index of the transaction in its block, row. */
  #bytes = Buffer.alloc(1_024);

  /** Empty sums for a number of blocks. */
  constructor(blocks: number) {
    this.#counts = new Uint32Array(blocks);
    this.#sums = new Uint32Array(2 * blocks);
  }

  /** The sums of a single block, number 0. */
  static of({ count, hashes, indexes, ends, rows }: ScriptRows): RowSums {
    const sums = new RowSums(1);
    for (let row = 0, start = 0; row < count; row++) {
      const end = ends[row] as number; // one for each row
      const script = hashes.subarray(row * SCRIPT_HASH_LENGTH, (row + 1) * SCRIPT_HASH_LENGTH);
      sums.add(0, script, indexes[row] as number, rows.subarray(start, end)); // likewise
      start = end;
    }
    return sums;
  }

  /** `block`: its number in these sums. `script`: its hash in the index. `index`: of the transaction in the block. */
  add(block: number, script: Buffer, index: number, row: Buffer): void {
    const length = HEAD_LENGTH + row.length;
    if (this.#bytes.length < length) this.#bytes = Buffer.alloc(2 * length);
    const bytes = this.#bytes;
    script.copy(bytes);
    bytes.writeUInt16BE(index, SCRIPT_HASH_LENGTH);
    row.copy(bytes, HEAD_LENGTH);
    // node:crypto returns strings three times as fast as buffers.
    const text = hash('sha256', bytes.subarray(0, length), 'binary');
    this.#add(this.#counts, block, 1);
    this.#add(this.#sums, 2 * block, uint32In(text, 0));
    this.#add(this.#sums, 2 * block + 1, uint32In(text, 4));
  }

  count(block: number): number {
    return this.#counts[block] ?? 0;
  }

  /** Whether a block has the same rows as another one in other sums. */
  equals(block: number, other: RowSums, otherBlock: number): boolean {
    return (
      this.#counts[block] === other.#counts[otherBlock] &&
      this.#sums[2 * block] === other.#sums[2 * otherBlock] &&
      this.#sums[2 * block + 1] === other.#sums[2 * otherBlock + 1]
    );
  }

  /** Adds modulo 2^32, by the type of the array. */
  #add(numbers: Uint32Array, at: number, number: number): void {
    numbers[at] = (numbers[at] as number) + number; // there is one for each block
  }
}

const uint32In = (text: string, at: number): number =>
  text.charCodeAt(at) * 0x100_0000 + (text.charCodeAt(at + 1) << 16) + (text.charCodeAt(at + 2) << 8) + text.charCodeAt(at + 3);
