import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { blockIn, inOrderOfHashes, positionIn } from '../../lib/index/write/position-order';

describe('the order of places', () => {
  it('has every transaction of every block once, and the first three bytes of their hashes ascend', () => {
    const hash = fc.uint8Array({ minLength: 12, maxLength: 12 });
    fc.assert(fc.property(fc.array(fc.array(hash, { maxLength: 40 }), { maxLength: 40 }), (blocks) => {
      const found = [...inOrderOfHashes(blocks.map((hashes) => Uint8Array.from(hashes.flatMap((bytes) => [...bytes]))))]
        .map((transaction) => ({ block: blockIn(transaction), position: positionIn(transaction) }));
      const starts = found.map(({ block, position }) => Buffer.from(blocks[block]?.[position] ?? expect.fail('no such transaction')).toString('hex', 0, 3));
      expect(starts).to.deep.equal([...starts].sort());
      expect(new Set(found.map(({ block, position }) => `${block} ${position}`)).size).to.equal(blocks.flat().length);
      expect(found).to.have.length(blocks.flat().length);
    }));
  });
});
