// Merkle roots of transactions, and the witness commitment made of one (BIP141).

import { hash256Of } from '../../lib/bitcoin/hash';

/** 32 bytes in wire order, of at least one hash. */
export function merkleRoot(hashes: readonly Buffer[]): Buffer {
  let level = hashes;
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as Buffer; // below the length
      above.push(hash256Of(left, level[i + 1] ?? left));
    }
    level = above;
  }
  const [root] = level;
  if (root === undefined) throw new RangeError('expected at least one hash, got none');
  return root;
}

/** The script of the coinbase output that commits to the witnesses, for a reserved value of zeros. */
export function commitmentScript(wtxids: readonly Buffer[]): Buffer {
  const zeros = Buffer.alloc(32);
  const commitment = hash256Of(merkleRoot([zeros, ...wtxids]), zeros);
  return Buffer.concat([Buffer.from('6a24aa21a9ed', 'hex'), commitment]);
}
