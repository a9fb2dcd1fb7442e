import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hash256 } from '../../lib/bitcoin/hash';
import { PooledTransaction } from '../../lib/pool/by-script/pooled-transaction';
import { summaryOf } from '../../lib/pool/summary';
import { sorted } from '../../lib/turns/sorted';
import { finish } from '../support/expectations/finish';
import { madeTransaction } from '../support/chain/made-blocks';

/** A transaction of `bytes` bytes, at least 62, none of them witness. */
function pooled(bytes: number, fee: number): PooledTransaction {
  const input = { txid: Buffer.alloc(32, 7), index: 0 };
  const overhead = madeTransaction([input], [{ value: 1_000, script: Buffer.alloc(300) }], 0).length - 300;
  const raw = madeTransaction([input], [{ value: 1_000, script: Buffer.alloc(bytes - overhead) }], 0);
  return new PooledTransaction({ txid: hash256(raw), raw, coins: [{ value: 1_000 + fee, script: Buffer.alloc(0) }] });
}

describe('the summary of the pool', () => {
  it('is empty for an empty pool', () => {
    expect(finish(summaryOf([]))).to.deep.equal({ count: 0, vsize: 0, totalFee: 0, histogram: [] });
  });

  it('closes a bin with more than 50,000 virtual bytes when the next rate differs', () => {
    const [first, second, same, last] = [pooled(30_000, 90_000), pooled(20_000, 40_000), pooled(30_000, 60_000), pooled(20_000, 20_000)];
    // 30,000 and 20,000 are not more than 50,000; the third one pays as much as the second.
    expect(finish(summaryOf([last, same, first, second]))).to.deep.equal({
      count: 4,
      vsize: 100_000,
      totalFee: 210_000,
      histogram: [
        { rate: 2, vsize: 80_000 },
        { rate: 1, vsize: 20_000 }
      ]
    });
    const exact = [pooled(50_000, 150_000), pooled(1_000, 2_000), pooled(1_000, 1_500)];
    expect(finish(summaryOf(exact)).histogram).to.deep.equal([
      { rate: 2, vsize: 51_000 },
      { rate: 1.5, vsize: 1_000 }
    ]);
  });

  it('rounds the virtual bytes of each transaction up, and its fee rate is that of what they were before', () => {
    const raw = madeTransaction(
      [{ txid: Buffer.alloc(32, 7), index: 0, witness: [Buffer.of(1)] }],
      [{ value: 1_000, script: Buffer.of(0x51) }],
      0
    );
    // 61 bytes and 5 of witness.
    const one = new PooledTransaction({ txid: hash256(raw), raw, coins: [{ value: 1_249, script: Buffer.alloc(0) }] });
    expect(one.weight).to.equal(61 * 4 + 5);
    expect(finish(summaryOf([one, one]))).to.deep.equal({ count: 2, vsize: 126, totalFee: 498, histogram: [{ rate: 4, vsize: 126 }] });
  });

  it('has each transaction in one bin, for any pool', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 400, max: 60_000 }), fc.integer({ min: 0, max: 200_000 })), { maxLength: 30 }),
        (plans) => {
          const transactions = plans.map(([bytes, fee]) => pooled(bytes, fee));
          const { histogram, vsize } = finish(summaryOf(transactions));
          expect(histogram.reduce((sum, bin) => sum + bin.vsize, 0)).to.equal(vsize);
          for (const [i, { rate, vsize: binned }] of histogram.entries()) {
            const above = histogram[i - 1]?.rate ?? Infinity;
            const members = transactions.filter(({ feeRate }) => feeRate >= rate && feeRate < above);
            expect(members.reduce((sum, member) => sum + member.vsize, 0)).to.equal(binned);
            // Without its lowest rate the bin was not full.
            const before = members.filter(({ feeRate }) => feeRate > rate).reduce((sum, member) => sum + member.vsize, 0);
            expect(before).to.be.at.most(50_000);
            if (i < histogram.length - 1) expect(binned).to.be.greaterThan(50_000);
          }
        }
      )
    );
  });
});

describe('sorting in pieces', () => {
  it('sorts like Array.sort, and leaves equal elements in their order', () => {
    const key = fc.integer({ min: 0, max: 50 });
    fc.assert(
      fc.property(fc.array(key, { maxLength: 3_000, size: 'max' }), (keys) => {
        const things = keys.map((rank, place) => ({ rank, place }));
        expect(finish(sorted(things, (a, b) => a.rank - b.rank))).to.deep.equal([...things].sort((a, b) => a.rank - b.rank));
      }),
      { numRuns: 20 }
    );
  });
});
