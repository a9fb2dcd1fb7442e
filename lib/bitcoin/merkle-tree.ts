// The Merkle tree over the txids of a block, and proofs from it that a transaction is in the block.

import { HASH_LENGTH, writePairHash } from './hash';
import { compactSizeOf } from './reader';

const PAIR_LENGTH = 2 * HASH_LENGTH;

/** Hashes between two pauses. */
const HASHES_PER_SLICE = 256;

/** The flag bits of a partial tree: eight to a byte, the lowest first. */
const BITS_PER_BYTE = 8;

/** The tree over at least one txid; `txids`: one by one, or concatenated. Yields every tenth of a millisecond or so. */
export function* merkleTree(txids: Buffer | readonly Buffer[]): Generator<void, MerkleTree> {
  // Trees are kept, and not counted with the 8 KiB of which Buffer's pool would give them parts.
  let level = Buffer.allocUnsafeSlow(Buffer.isBuffer(txids) ? txids.length : txids.length * HASH_LENGTH);
  if (Buffer.isBuffer(txids)) txids.copy(level);
  else for (const [i, txid] of txids.entries()) txid.copy(level, i * HASH_LENGTH);
  const levels = [level];
  while (level.length > HASH_LENGTH) {
    const count = Math.ceil(level.length / PAIR_LENGTH);
    const above = Buffer.allocUnsafeSlow(count * HASH_LENGTH);
    for (let i = 0; i < count; i++) {
      const left = i * PAIR_LENGTH;
      // The last of an odd number of hashes is paired with itself.
      writePairHash(level, left, Math.min(left + HASH_LENGTH, level.length - HASH_LENGTH), above, i * HASH_LENGTH);
      if (i % HASHES_PER_SLICE === HASHES_PER_SLICE - 1) yield;
    }
    levels.push((level = above));
  }
  return new MerkleTree(levels);
}

/** A tree with all of its hashes, 32 bytes each in wire order; `merkleTree` makes it. Hashes that it gives are views. */
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

  /**
   * Whether two hashes that are paired are the same, other than the last one with itself: another list of txids has the same root then
   * (CVE-2012-2459), and this one is none that a block may have.
   */
  get hasTwins(): boolean {
    return this.#levels.some((level) => {
      for (let left = 0; left + PAIR_LENGTH <= level.length; left += PAIR_LENGTH) {
        const right = left + HASH_LENGTH;
        if (level[left] === level[right] && level.compare(level, left, right, right, right + HASH_LENGTH) === 0) return true;
      }
      return false;
    });
  }

  get root(): Buffer {
    return this.#hash(this.#levels.length - 1, 0);
  }

  /** Number of txids. */
  get size(): number {
    return this.#width(0);
  }

  /** Empty from `size` up. */
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

  /**
   * The partial tree (BIP37) of the txids at some indexes: number of txids (4 bytes), number of hashes, hashes, number of bytes of flag bits,
   * flag bits.
   */
  partial(...indexes: readonly number[]): Buffer {
    const hashes: Buffer[] = [];
    const bits: boolean[] = [];
    const above = this.#levels.map((_, level) => new Set(indexes.map((index) => index >> level)));
    const visit = (level: number, at: number): void => {
      const isAbove = above[level]?.has(at) === true;
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
    return Buffer.concat([size, compactSizeOf(hashes.length), ...hashes, compactSizeOf(flags.length), flags]);
  }

  #width(level: number): number {
    return (this.#levels[level]?.length ?? 0) / HASH_LENGTH;
  }

  #hash(level: number, at: number): Buffer {
    return (this.#levels[level] as Buffer).subarray(at * HASH_LENGTH, (at + 1) * HASH_LENGTH); // a level of this tree
  }
}
