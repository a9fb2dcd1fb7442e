import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { improves } from '../../lib/clusters/diagram';
import { compareRates, type Rate } from '../../lib/clusters/fee-rate';

const chunks = fc.array(fc.record({ fee: fc.integer({ min: -4, max: 40 }), weight: fc.integer({ min: 1, max: 8 }) }), { maxLength: 6 });

/** Fees gathered up to a weight, times the weight of the chunk in which it lies, and that weight: exact. */
function gathered(list: readonly Rate[], weight: number): { readonly fee: number; readonly by: number } {
  let [fee, left] = [0, weight];
  for (const chunk of [...list].sort((a, b) => compareRates(b, a))) {
    if (chunk.weight > left) return { fee: fee * chunk.weight + chunk.fee * left, by: chunk.weight };
    fee += chunk.fee;
    left -= chunk.weight;
  }
  return { fee, by: 1 };
}

/** By the definition: corners lie at whole weights, so all whole weights are enough. */
function improvesByDefinition(after: readonly Rate[], before: readonly Rate[]): boolean {
  const most = [...after, ...before].reduce((sum, { weight }) => sum + weight, 1);
  const differences = Array.from({ length: most + 1 }, (_, weight) => {
    const [a, b] = [gathered(after, weight), gathered(before, weight)];
    return a.fee * b.by - b.fee * a.by;
  });
  return differences.some((one) => one > 0) && differences.every((one) => one >= 0);
}

describe('fee-rate diagrams', () => {
  it('are better when they are nowhere below and somewhere above', () => {
    fc.assert(
      fc.property(chunks, chunks, (after, before) => {
        expect(improves(after, before)).to.equal(improvesByDefinition(after, before));
      }),
      { numRuns: 20_000 }
    );
  });

  it('are not better when they are the same', () => {
    const list = [
      { fee: 300, weight: 400 },
      { fee: 100, weight: 400 }
    ];
    expect(improves(list, list)).to.equal(false);
    expect(improves([{ fee: 301, weight: 400 }, list[1] as Rate], list)).to.equal(true);
  });

  it('are compared exactly where products are beyond 2^53', () => {
    const most = 2_100_000_000_000_000;
    expect(improves([{ fee: most, weight: 399_999 }], [{ fee: most - 1, weight: 399_999 }])).to.equal(true);
    expect(improves([{ fee: most - 1, weight: 399_998 }], [{ fee: most, weight: 399_999 }])).to.equal(false);
  });
});
