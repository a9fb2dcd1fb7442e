// The tree of hashes over the txids of a block, and what it proves: that a transaction is in the block.

import { hash256 } from './hash';

const HASH_LENGTH = 32;
const PAIR_LENGTH = 2 * HASH_LENGTH;

/** Hashes between two pauses. */
const HASHES_PER_SLICE = 256;

/** The bits of a partial tree: 8 a byte, the lowest first. */
const BITS_PER_BYTE = 8;

/** The tree over at least one txid. Yields every tenth of a millisecond or so. */
export function* merkleTree(txids: readonly Buffer[]): Generator<void, MerkleTree> {
  let level = Buffer.concat(txids);
  const levels = [level];
  while (level.length > HASH_LENGTH) {
    const count = Math.ceil(level.length / PAIR_LENGTH);
    const above = Buffer.allocUnsafe(count * HASH_LENGTH);
    for (let i = 0; i < count; i++) {
      const pair = level.subarray(i * PAIR_LENGTH, (i + 1) * PAIR_LENGTH);
      // The last one of an odd number stands for its missing neighbour, too.
      hash256(pair.length === PAIR_LENGTH ? pair : Buffer.concat([pair, pair])).copy(above, i * HASH_LENGTH);
      if (i % HASHES_PER_SLICE === HASHES_PER_SLICE - 1) yield;
    }
    levels.push((level = above));
  }
  return new MerkleTree(levels);
}

export class MerkleTree {
  /** The hashes of each level one behind the other: first the txids, last the root alone. */
  readonly #levels: readonly Buffer[];

  constructor(levels: readonly Buffer[]) {
    this.#levels = levels;
  }

  /** Bytes of its hashes. */
  get byteLength(): number {
    return this.#levels.reduce((sum, { length }) => sum + length, 0);
  }

  get root(): Buffer {
    return this.#hash(this.#levels.length - 1, 0);
  }

  /** Number of txids. */
  get size(): number {
    return this.#width(0);
  }

  txid(index: number): Buffer {
    return this.#hash(0, index);
  }

  /** The neighbours of the txid at an index and of the hashes above it, upwards. */
  branch(index: number): Buffer[] {
    return this.#levels.slice(0, -1).map((_, level) => {
      const neighbour = (index >> level) ^ 1;
      return this.#hash(level, Math.min(neighbour, this.#width(level) - 1));
    });
  }

  /** The partial tree (BIP37) of one txid: the number of txids 4, hashes behind their number, bits behind the number of their bytes. */
  partial(index: number): Buffer {
    const hashes: Buffer[] = [];
    const bits: boolean[] = [];
    const visit = (level: number, at: number): void => {
      const isAbove = index >> level === at;
      bits.push(isAbove);
      if (level === 0 || !isAbove) {
        hashes.push(this.#hash(level, at));
        return;
      }
      visit(level - 1, 2 * at);
      if (2 * at + 1 < this.#width(level - 1)) visit(level - 1, 2 * at + 1);
    };
    visit(this.#levels.length - 1, 0);
    const flags = Buffer.alloc(Math.ceil(bits.length / BITS_PER_BYTE));
    for (const [i, bit] of bits.entries())
      if (bit) flags[Math.floor(i / BITS_PER_BYTE)] = (flags[Math.floor(i / BITS_PER_BYTE)] as number) | (1 << (i % BITS_PER_BYTE));
    const size = Buffer.alloc(4);
    size.writeUInt32LE(this.size);
    // Neither number is as high as 253: the tree has 17 levels at most.
    return Buffer.concat([size, Buffer.of(hashes.length), ...hashes, Buffer.of(flags.length), flags]);
  }

  #width(level: number): number {
    return (this.#levels[level]?.length ?? 0) / HASH_LENGTH;
  }

  #hash(level: number, at: number): Buffer {
    return (this.#levels[level] as Buffer).subarray(at * HASH_LENGTH, (at + 1) * HASH_LENGTH); // a level of its own
  }
}
