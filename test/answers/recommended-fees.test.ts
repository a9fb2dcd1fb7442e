import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { recommendedFees, type RecommendedFees } from '../../lib/answers/pool/recommended-fees';
import type { FeeTarget } from '../../lib/pool/fee-estimates';

const RELAYED = { minFeeRate: 1_000, minRelayFeeRate: 1_000 };

const shown = ({ fastestFee, halfHourFee, hourFee, economyFee, minimumFee }: RecommendedFees): number[] => [
  fastestFee,
  halfHourFee,
  hourFee,
  economyFee,
  minimumFee
];

const estimates = (rates: Readonly<Record<number, number>>): FeeTarget[] =>
  Object.entries(rates).map(([blocks, rate]) => ({ blocks: Number(blocks), rate }));

describe('recommended fees', () => {
  it('are the lowest fee that is relayed while there are no estimates', () => {
    expect(shown(recommendedFees([], RELAYED))).to.deep.equal([1, 1, 1, 1, 1]);
    expect(shown(recommendedFees([], { minFeeRate: 2_100, minRelayFeeRate: 1_000 }))).to.deep.equal([3, 3, 3, 3, 3]);
    expect(shown(recommendedFees([], { minFeeRate: 0, minRelayFeeRate: 0 }))).to.deep.equal([1, 1, 1, 1, 1]);
  });

  it('are the estimates for one, three and six blocks, rounded up', () => {
    const rates = { 1: 20.2, 2: 15, 3: 10.001, 5: 7, 6: 6.5, 7: 6, 144: 1.4, 1008: 1 };
    expect(shown(recommendedFees(estimates(rates), RELAYED))).to.deep.equal([21, 11, 7, 2, 1]);
  });

  it('use the estimate for fewer blocks if there is none for the target', () => {
    expect(shown(recommendedFees(estimates({ 1: 9, 2: 8, 144: 1 }), RELAYED))).to.deep.equal([9, 8, 8, 1, 1]);
  });

  it('are whole numbers, and never below those of a longer wait', () => {
    const target = fc.record({ blocks: fc.integer({ min: 1, max: 1_008 }), rate: fc.double({ min: 0, max: 5_000, noNaN: true }) });
    fc.assert(
      fc.property(fc.array(target), fc.nat(100_000), (targets, rate) => {
        const sorted = targets.sort((a, b) => a.blocks - b.blocks);
        const fees = shown(recommendedFees(sorted, { minFeeRate: rate, minRelayFeeRate: 1_000 }));
        expect(fees).to.deep.equal(fees.toSorted((a, b) => b - a));
        expect(fees.every((fee) => Number.isInteger(fee) && fee * 1_000 >= rate)).to.equal(true);
      })
    );
  });
});
