// The Merkle tree over the txids of a block, and proofs from it that a transaction is in the block.

import { hash256 } from './hash';

const HASH_LENGTH = 32;
const PAIR_LENGTH = 2 * HASH_LENGTH;

/** Hashes between two pauses. */
const HASHES_PER_SLICE = 256;

/** The flag bits of a partial tree: eight to a byte, the lowest first. */
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
      // The last of an odd number of hashes is paired with itself.
      hash256(pair.length === PAIR_LENGTH ? pair : Buffer.concat([pair, pair])).copy(above, i * HASH_LENGTH);
      if (i % HASHES_PER_SLICE === HASHES_PER_SLICE - 1) yield;
    }
    levels.push((level = above));
  }
  return new MerkleTree(levels);
}

export class MerkleTree {
  /** The concatenated hashes of each level: first the txids, last the root alone. */
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

  /** The Merkle branch of the txid at an index: its neighbour and those of the hashes above it, from the bottom up. */
  branch(index: number): Buffer[] {
    return this.#levels.slice(0, -1).map((_, level) => {
      const neighbour = (index >> level) ^ 1;
      return this.#hash(level, Math.min(neighbour, this.#width(level) - 1));
    });
  }

  /** The partial tree (BIP37) of one txid: number of txids (4 bytes), number of hashes, hashes, number of bytes of flag bits, flag bits. */
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
    // Both numbers are below 253 and so take one byte: the tree has 17 levels at most.
    return Buffer.concat([size, Buffer.of(hashes.length), ...hashes, Buffer.of(flags.length), flags]);
  }

  #width(level: number): number {
    return (this.#levels[level]?.length ?? 0) / HASH_LENGTH;
  }

  #hash(level: number, at: number): Buffer {
    return (this.#levels[level] as Buffer).subarray(at * HASH_LENGTH, (at + 1) * HASH_LENGTH); // a level of this tree
  }
}
