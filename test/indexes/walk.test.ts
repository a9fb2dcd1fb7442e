import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { allowEarlySpends, allowSpendsAsShipped } from '../support/chain/early-spends';
import { IndexWalk } from '../support/index/walk';
import { testScale, testSeed } from '../support/process/scale';
import { anyStep } from '../support/index/walk-steps';

const SUITES = [
  { scripts: false, stepsOfWalk: 30, walks: 7 * testScale() },
  { scripts: true, stepsOfWalk: 12, walks: 3 * testScale() }
];

for (const { scripts, stepsOfWalk, walks } of SUITES)
  describe(`an index ${scripts ? 'with an index by script ' : ''}on any walk`, function () {
    const seed = testSeed();
    before(allowEarlySpends);
    after(allowSpendsAsShipped);
    this.timeout(300_000 * testScale());

    it(`equals at every step one that took the chain block by block: ${walks * stepsOfWalk} steps, TEST_SEED=${seed}`, async () => {
      const walk = fc.record({
        disk: fc.boolean(),
        waits: fc.boolean(),
        bootstrap: fc.constantFrom('blocks' as const, 'coins' as const),
        undoDepth: fc.constantFrom(3, 10, 1_000),
        filters: fc.boolean(),
        steps: fc.array(anyStep, { minLength: stepsOfWalk, maxLength: stepsOfWalk, size: 'max' })
      });
      let taken = 0;
      await fc.assert(
        fc.asyncProperty(walk, async ({ steps, ...options }) => {
          const way = await IndexWalk.open({ ...options, scripts });
          try {
            await way.expectRight();
            for (const next of steps) {
              await way.step(next).catch((error: unknown) => {
                throw new Error(`step ${taken % stepsOfWalk}, ${next.do}: ${error instanceof Error ? error.message : String(error)}`, {
                  cause: error
                });
              });
              taken++;
            }
            await way.step({ do: 'restart', scripts, closed: undefined, opened: undefined });
            if (steps.every((step) => step.do !== 'fault'))
              expect(way.log.lines.filter((line) => line.startsWith('error'))).to.deep.equal([]);
          } finally {
            await way.close();
          }
        }),
        { numRuns: walks, seed, endOnFailure: process.env['TEST_SHRINK'] === undefined }
      );
      expect(taken).to.equal(walks * stepsOfWalk);
    });
  });
