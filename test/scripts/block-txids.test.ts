import { expect } from 'chai';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { putRecord } from '../../lib/index/records/layout';
import { BlockGroup, GROUP_BLOCKS, groupKey } from '../../lib/scripts/records/block-txids';

const key = groupKey(300);

describe('the record of the txids of some blocks', () => {
  it('has up to 256 blocks, each with the number and the checksum of its txids', () => {
    const txids = Buffer.alloc(3 * 32, 7);
    let group = BlockGroup.after(5);
    for (let block = 1; block <= GROUP_BLOCKS; block++) {
      group = group.plus(txids);
      expect(BlockGroup.of(key, putRecord(key, group.bytes).value)).to.deep.include({ blocks: block, below: 5 });
    }
    expect(group.transactions(255)).to.equal(3);
    expect(group.has(255, txids)).to.equal(true);
    expect(group.has(255, txids.subarray(32)), 'fewer').to.equal(false);
    expect(group.has(255, Buffer.alloc(3 * 32, 8)), 'others').to.equal(false);
    expect(group.withoutLast().blocks).to.equal(255);
  });

  it('is damaged if it has no blocks, more, or a part of one', () => {
    for (const length of [0, 6, 6 + 5, 6 + 6 * (GROUP_BLOCKS + 1)]) {
      const { value } = putRecord(key, Buffer.alloc(length));
      expect(() => BlockGroup.of(key, value), `${length} bytes`).to.throw(DamagedIndexError, `1 to 256 blocks, got ${length} bytes`);
    }
  });
});
