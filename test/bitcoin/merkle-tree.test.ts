import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hash256Of } from '../../lib/bitcoin/hash';
import { merkleTree, type MerkleTree } from '../../lib/bitcoin/merkle-tree';
import { readPartialTree, type ProvenTxids } from '../../lib/bitcoin/partial-tree';
import { ByteReader, MalformedBytesError } from '../../lib/bitcoin/reader';
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

  it('has memory of its own, no longer than its hashes', () => {
    const tree = treeOver(2);
    const [neighbour] = tree.branch(0);
    expect([tree.root.buffer.byteLength, neighbour?.buffer.byteLength, tree.byteLength]).to.deep.equal([32, 64, 96]);
  });

  it('says whether another list of txids has the same root', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), (size) => {
        const txids = Array.from({ length: size }, (_, i) => treeOver(size).txid(i));
        expect(treeOver(size).hasTwins).to.equal(false);
        // The last ones again, as many as make an odd level even.
        for (let count = 1; count <= size; count *= 2) {
          const other = runAtOnce(merkleTree([...txids, ...txids.slice(-count)]));
          if (other.root.equals(treeOver(size).root)) expect(other.hasTwins, `${size} ${count}`).to.equal(true);
        }
      })
    );
  });

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

  it('proves some of them with one partial tree, which is read again', () => {
    const places = fc
      .integer({ min: 1, max: 600 })
      .chain((size) => fc.record({ size: fc.constant(size), indexes: fc.subarray([...Array(size).keys()]) }));
    fc.assert(
      fc.property(places, ({ size, indexes }) => {
        const tree = treeOver(size);
        const reader = new ByteReader(tree.partial(...indexes));
        expect(runAtOnce(readPartialTree(reader))).to.deep.equal({
          root: tree.root,
          size,
          txids: indexes.map((index) => tree.txid(index))
        });
        reader.requireEnd('partial tree');
      })
    );
  });

  it('has nothing else proven by bytes that were changed', () => {
    const tree = treeOver(37);
    const partial = tree.partial(3, 20);
    const all = Array.from({ length: tree.size }, (_, index) => tree.txid(index).toString('hex'));
    let sameRoots = 0;
    for (let bit = 0; bit < 8 * partial.length; bit++) {
      const changed = Buffer.from(partial);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      let proven: ProvenTxids | undefined;
      try {
        proven = runAtOnce(readPartialTree(new ByteReader(changed)));
      } catch (error) {
        expect(error).to.be.instanceOf(MalformedBytesError);
      }
      if (proven?.root.equals(tree.root) !== true) continue;
      sameRoots++;
      expect(all).to.include.members(proven.txids.map((txid) => txid.toString('hex')));
    }
    // A bit that says whether a leaf is meant is not part of the root: another leaf may be meant, or one less.
    expect(sameRoots).to.be.above(0);
  });

  it('is the txid alone if there is only one', () => {
    const tree = treeOver(1);
    expect([tree.root, tree.branch(0), tree.size]).to.deep.equal([tree.txid(0), [], 1]);
  });
});
