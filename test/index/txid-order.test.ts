import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { blockIn, inOrderOfTxids, positionIn } from '../../lib/index/txid-order';

describe('the order of txids', () => {
  it('has every transaction of every block once, and the first three bytes of their txids ascend', () => {
    const txid = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(fc.property(fc.array(fc.array(txid, { maxLength: 40 }), { maxLength: 40 }), (blocks) => {
      const found = [...inOrderOfTxids(blocks.map((txids) => Uint8Array.from(txids.flatMap((bytes) => [...bytes]))))]
        .map((transaction) => ({ block: blockIn(transaction), position: positionIn(transaction) }));
      const starts = found.map(({ block, position }) => Buffer.from(blocks[block]?.[position] ?? expect.fail('no such transaction')).toString('hex', 0, 3));
      expect(starts).to.deep.equal([...starts].sort());
      expect(new Set(found.map(({ block, position }) => `${block} ${position}`)).size).to.equal(blocks.flat().length);
      expect(found).to.have.length(blocks.flat().length);
    }));
  });
});
