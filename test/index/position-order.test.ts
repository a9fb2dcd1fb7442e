import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { inOrderOfHashes } from '../../lib/index/write/block-batch';

describe('the order of positions', () => {
  it('has every transaction of every block once, by the first three bytes of their hashes', () => {
    const hash = fc.uint8Array({ minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(fc.array(fc.array(hash, { maxLength: 40 }), { maxLength: 40 }), (blocks) => {
        const found = [...inOrderOfHashes(blocks.map((hashes) => Uint8Array.from(hashes.flatMap((bytes) => [...bytes]))))].map(
          (number) => ({ block: Math.floor(number / 65_536) % 4_096, index: number % 65_536 })
        );
        const starts = found.map(({ block, index }) =>
          Buffer.from(blocks[block]?.[index] ?? expect.fail('no such transaction')).toString('hex', 0, 3)
        );
        expect(starts).to.deep.equal([...starts].sort());
        expect(new Set(found.map(({ block, index }) => `${block} ${index}`)).size).to.equal(blocks.flat().length);
        expect(found).to.have.length(blocks.flat().length);
      })
    );
  });
});
