import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { IndexWalk } from '../support/index-walk';
import { testScale, testSeed } from '../support/scale';
import { healthyStep } from '../support/walk-steps';

const STEPS_PER_WALK = 12;
const WALKS = 2;

const walk = fc.record({
  disk: fc.boolean(),
  waits: fc.boolean(),
  bootstrap: fc.constantFrom('blocks' as const, 'coins' as const),
  undoDepth: fc.constantFrom(3, 10, 1_000),
  steps: fc.array(healthyStep, { minLength: STEPS_PER_WALK, maxLength: STEPS_PER_WALK, size: 'max' })
});

describe('an index by script on any walk', function () {
  const seed = testSeed();
  const walks = WALKS * testScale();
  this.timeout(300_000 * testScale());

  it(`has at every step the same records and answers as one that took the chain block by block: ${walks * STEPS_PER_WALK} steps, TEST_SEED=${seed}`, async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(walk, async ({ steps, ...options }) => {
        const way = await IndexWalk.open({ ...options, scripts: true });
        try {
          await way.expectRight();
          for (const next of steps) {
            await way.step(next);
            taken++;
          }
          await way.step({ do: 'restart', scripts: true, closed: undefined, opened: undefined });
          expect(way.log.lines.filter((line) => line.startsWith('error'))).to.deep.equal([]);
        } finally {
          await way.close();
        }
      }),
      { numRuns: walks, seed, endOnFailure: process.env['TEST_SHRINK'] === undefined }
    );
    expect(taken).to.equal(walks * STEPS_PER_WALK);
  });
});
