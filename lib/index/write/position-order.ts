// The transactions of a batch in the order of their txids' hashes, nearly: the store's table of new
// records is in this order, and neighbours go in there faster than what lies far apart.

import { TXID_HASH_LENGTH } from '../records/layout';

/** Numbers that sort: three bytes of the hash, which block of the batch it is, the position: together less than a double's 53 bits. */
const POSITIONS = 0x1_0000;
/** More than there are in a batch, which has the blocks of one leg of catching up at most. */
const BLOCKS = 0x1000;

/** `hashesOfBlocks`: for each block of a batch, the hashes of its txids. To be read with `blockIn` and `positionIn`. */
export function inOrderOfHashes(hashesOfBlocks: readonly Uint8Array[]): Float64Array {
  const order = new Float64Array(hashesOfBlocks.reduce((count, hashes) => count + hashes.length / TXID_HASH_LENGTH, 0));
  let next = 0;
  hashesOfBlocks.forEach((hashes, block) => {
    for (let at = 0; at < hashes.length; at += TXID_HASH_LENGTH) {
      const start = (hashes[at] as number) << 16 | (hashes[at + 1] as number) << 8 | (hashes[at + 2] as number); // whole hashes
      order[next++] = (start * BLOCKS + block) * POSITIONS + at / TXID_HASH_LENGTH;
    }
  });
  return order.sort();
}

export function blockIn(transaction: number): number {
  return Math.floor(transaction / POSITIONS) % BLOCKS;
}

export function positionIn(transaction: number): number {
  return transaction % POSITIONS;
}
