import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { preciseFees, recommendedFees, type PayingBlock, type RecommendedFees } from '../../lib/answers/pool/recommended-fees';

const RELAYED = { minFeeRate: 1_000 };

const shown = ({ fastestFee, halfHourFee, hourFee, economyFee, minimumFee }: RecommendedFees): number[] => [
  fastestFee,
  halfHourFee,
  hourFee,
  economyFee,
  minimumFee
];

const block = (vsize: number, median: number): PayingBlock => ({ weight: 4 * vsize, statistics: { median } });

describe('recommended fees', () => {
  it('are the lowest fee that is relayed while the pool is empty, or has less than half a block', () => {
    expect(shown(recommendedFees([], RELAYED))).to.deep.equal([1, 1, 1, 1, 1]);
    expect(shown(recommendedFees([block(500_000, 90)], RELAYED))).to.deep.equal([1, 1, 1, 1, 1]);
    expect(shown(recommendedFees([], { minFeeRate: 2_100 }))).to.deep.equal([3, 3, 3, 3, 3]);
    expect(shown(recommendedFees([], { minFeeRate: 0 }))).to.deep.equal([1, 1, 1, 1, 1]);
  });

  it('add something for haste if they are precise', () => {
    expect(shown(preciseFees([], RELAYED))).to.deep.equal([1.5, 1.25, 1, 1, 1]);
    expect(shown(preciseFees([], { minFeeRate: 100 }))).to.deep.equal([1, 0.5, 0.1, 0.1, 0.1]);
  });

  it('are the medians of the next three blocks, each halfway to the one before', () => {
    const full = [20, 10, 5, 2].map((median) => block(997_000, median));
    expect(shown(recommendedFees(full, RELAYED))).to.deep.equal([20, 15, 10, 2, 1]);
    expect(shown(preciseFees(full, RELAYED))).to.deep.equal([20.5, 15.25, 10, 2, 1]);
  });

  it('grow with a last block that is not full yet', () => {
    expect(shown(recommendedFees([block(750_000, 20)], RELAYED))).to.deep.equal([10, 1, 1, 1, 1]);
    expect(shown(recommendedFees([block(997_000, 30), block(600_000, 10)], RELAYED))).to.deep.equal([30, 4, 1, 1, 1]);
  });

  it('are never below those of a longer wait, nor below what is relayed', () => {
    const any = fc.record({ vsize: fc.integer({ min: 0, max: 1_000_000 }), median: fc.double({ min: 0, max: 5_000, noNaN: true }) });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 8 }), fc.nat(100_000), (blocks, minFeeRate) => {
        const paying = blocks.map(({ vsize, median }) => block(vsize, median));
        const fees = shown(recommendedFees(paying, { minFeeRate }));
        expect(fees).to.deep.equal(fees.toSorted((a, b) => b - a));
        expect(fees.every((fee) => Number.isInteger(fee) && fee * 1_000 >= minFeeRate)).to.equal(true);
        const precise = shown(preciseFees(paying, { minFeeRate }));
        expect(precise).to.deep.equal(precise.toSorted((a, b) => b - a));
        expect(precise.every((fee) => fee * 1_000 >= minFeeRate - 1)).to.equal(true);
      })
    );
  });
});
