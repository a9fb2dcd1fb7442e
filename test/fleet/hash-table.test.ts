import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { HashTable } from '../../lib/fleet/reader/hash-table';

/** More than there is room for at first. */
const COUNT = 3_000;

/** Each one differs from all others. */
const hashOf = (n: number): Buffer => {
  const hash = Buffer.alloc(32);
  hash.writeUInt32BE(n, 28);
  return hash;
};

describe('the hashes of a chain by height', () => {
  let hashes: HashTable;

  beforeEach(() => {
    hashes = new HashTable();
    for (let height = 0; height < COUNT; height++) hashes.push(hashOf(height));
  });

  it('are found at their heights, however many there are, and nowhere else', () => {
    for (let height = 0; height < COUNT; height++) expect(hashes.at(height)).to.deep.equal(hashOf(height));
    for (const height of [-1, COUNT, COUNT + 1]) expect(hashes.at(height)).to.equal(undefined);
  });

  it('are others above the block where another branch begins', () => {
    hashes.cutTo(COUNT + 1);
    expect(hashes.at(COUNT)).to.equal(undefined);
    const before = hashes.at(2);
    hashes.cutTo(2);
    expect(hashes.at(2)).to.equal(undefined);
    hashes.push(hashOf(7));
    // Who has asked before keeps what it was.
    expect(before).to.deep.equal(hashOf(2));
    expect([0, 1, 2, 3].map((height) => hashes.at(height))).to.deep.equal([hashOf(0), hashOf(1), hashOf(7), undefined]);
  });

  it('stay as they are when a branch is tried in a copy', () => {
    const copy = hashes.copy();
    copy.cutTo(2);
    copy.push(hashOf(7));
    expect(copy.at(2)).to.deep.equal(hashOf(7));
    for (const height of [1, 2, COUNT - 1]) expect(hashes.at(height)).to.deep.equal(hashOf(height));
  });
});
