import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hash256Of } from '../../lib/bitcoin/hash';
import { merkleTree, type MerkleTree } from '../../lib/bitcoin/merkle-tree';
import { ByteReader } from '../../lib/bitcoin/reader';
import { runAtOnce } from '../../lib/turns/slices';

const treeOver = (size: number): MerkleTree => {
  const txids = Array.from({ length: size }, (_, i) => {
    const txid = Buffer.alloc(32, 1);
    txid.writeUInt32LE(i);
    return txid;
  });
  return runAtOnce(merkleTree(txids));
};

/** The root that a branch gives, computed as SPV clients do. */
function rootOf(txid: Buffer, index: number, branch: readonly Buffer[]): Buffer {
  return branch.reduce((hash, neighbour, level) => ((index >> level) & 1 ? hash256Of(neighbour, hash) : hash256Of(hash, neighbour)), txid);
}

/** The root of a partial tree, and the txids that it matches (TraverseAndExtract of Bitcoin Core's merkleblock.cpp). */
function extract(partial: Buffer): { root: Buffer; matches: { txid: Buffer; index: number }[] } {
  const reader = new ByteReader(partial);
  const size = reader.u32();
  const hashes = Array.from({ length: reader.compactSize() }, () => reader.bytes(32));
  const flags = reader.bytes(reader.compactSize());
  reader.requireEnd('partial tree');
  const matches: { txid: Buffer; index: number }[] = [];
  let [bit, used] = [0, 0];
  const width = (height: number): number => (size + (1 << height) - 1) >> height;
  const visit = (height: number, at: number): Buffer => {
    const isParent = ((flags[bit >> 3] as number) >> (bit & 7)) & 1;
    bit++;
    if (height > 0 && isParent) {
      const left = visit(height - 1, 2 * at);
      return hash256Of(left, 2 * at + 1 < width(height - 1) ? visit(height - 1, 2 * at + 1) : left);
    }
    const hash = hashes[used++] as Buffer;
    if (height === 0 && isParent) matches.push({ txid: hash, index: at });
    return hash;
  };
  let height = 0;
  while (width(height) > 1) height++;
  const root = visit(height, 0);
  expect([used, (bit + 7) >> 3]).to.deep.equal([hashes.length, flags.length]);
  return { root, matches };
}

describe('the tree over the txids of a block', () => {
  const place = fc
    .integer({ min: 1, max: 600 })
    .chain((size) => fc.record({ size: fc.constant(size), index: fc.integer({ min: 0, max: size - 1 }) }));

  it('proves each of them with a branch and with a partial tree', () => {
    fc.assert(
      fc.property(place, ({ size, index }) => {
        const tree = treeOver(size);
        const txid = tree.txid(index);
        expect(rootOf(txid, index, tree.branch(index)).equals(tree.root)).to.equal(true);
        const { root, matches } = extract(tree.partial(index));
        expect(root.equals(tree.root)).to.equal(true);
        expect(matches).to.deep.equal([{ txid, index }]);
      })
    );
  });

  it('is the txid alone if there is only one', () => {
    const tree = treeOver(1);
    expect([tree.root, tree.branch(0), tree.size]).to.deep.equal([tree.txid(0), [], 1]);
  });
});
