// Partial Merkle trees (BIP37) as proofs: what MerkleTree.partial writes, read (CPartialMerkleTree of Bitcoin Core).

import { hash256Of, HASH_LENGTH } from './hash';
import type { ByteReader } from './reader';

const BITS_PER_BYTE = 8;

/** More transactions do not fit into a block: one has 60 bytes without witness at least. */
export const MOST_TRANSACTIONS = 16_666;

export interface ProvenTxids {
  /** 32 bytes in wire order. */
  readonly root: Buffer;
  /** Number of the block's transactions. */
  readonly size: number;
  readonly txids: readonly Buffer[];
}

/** Hashes between two yields. */
const HASHES_PER_STEP = 128;

/** Reads a partial tree; undefined: it proves nothing. Yields now and then. @throws MalformedBytesError when the bytes end too early */
export function* readPartialTree(reader: ByteReader): Generator<void, ProvenTxids | undefined> {
  const size = reader.u32();
  const hashCount = reader.compactSize();
  const hashes = reader.bytes(hashCount * HASH_LENGTH);
  const flags = reader.bytes(reader.compactSize());
  const bitCount = flags.length * BITS_PER_BYTE;
  if (size === 0 || size > MOST_TRANSACTIONS || hashCount > size || bitCount < hashCount) return undefined;
  return yield* extract(size, hashes, flags);
}

/** Thrown and caught here: the walk is deep inside. */
class BadTreeError extends Error {
  override readonly name = 'BadTreeError';
}

function* extract(size: number, hashes: Buffer, flags: Buffer): Generator<void, ProvenTxids | undefined> {
  const txids: Buffer[] = [];
  let [bit, hash, made] = [0, 0, 0];
  const widthAt = (level: number): number => Math.ceil(size / 2 ** level);
  const nextHash = (): Buffer => {
    const next = hashes.subarray(hash, (hash += HASH_LENGTH));
    if (next.length < HASH_LENGTH) throw new BadTreeError('too few hashes');
    return next;
  };
  function* visit(level: number, at: number): Generator<void, Buffer> {
    const byte = flags[Math.floor(bit / BITS_PER_BYTE)];
    if (byte === undefined) throw new BadTreeError('too few flags');
    const isAbove = ((byte >> (bit++ % BITS_PER_BYTE)) & 1) === 1;
    if (level === 0 || !isAbove) {
      const own = nextHash();
      if (isAbove) txids.push(own);
      return own;
    }
    if (++made % HASHES_PER_STEP === 0) yield;
    const left = yield* visit(level - 1, 2 * at);
    if (2 * at + 1 >= widthAt(level - 1)) return hash256Of(left, left);
    const right = yield* visit(level - 1, 2 * at + 1);
    // Such a pair could stand for another list of transactions (CVE-2012-2459).
    if (right.equals(left)) throw new BadTreeError('twins');
    return hash256Of(left, right);
  }
  try {
    let height = 0;
    while (widthAt(height) > 1) height++;
    const root = yield* visit(height, 0);
    const isUsedUp = Math.ceil(bit / BITS_PER_BYTE) === flags.length && hash === hashes.length;
    return isUsedUp ? { root, size, txids } : undefined;
  } catch (error) {
    if (error instanceof BadTreeError) return undefined;
    throw error;
  }
}
