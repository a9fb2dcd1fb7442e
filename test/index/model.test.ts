import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { IndexWalk } from '../support/index-walk';
import { testScale, testSeed } from '../support/scale';
import { anyStep } from '../support/walk-steps';

const STEPS_PER_WALK = 30;
const WALKS = 20;

const walk = fc.record({
  disk: fc.boolean(),
  waits: fc.boolean(),
  bootstrap: fc.constantFrom('blocks' as const, 'coins' as const),
  undoDepth: fc.constantFrom(3, 10, 1_000),
  filters: fc.boolean(),
  steps: fc.array(anyStep, { minLength: STEPS_PER_WALK, maxLength: STEPS_PER_WALK, size: 'max' })
});

describe('an index on any walk', function () {
  const seed = testSeed();
  const walks = WALKS * testScale();
  this.timeout(300_000 * testScale());

  it(`equals at every step, byte for byte, an index built from nothing, or has the same coins: ${walks * STEPS_PER_WALK} steps, TEST_SEED=${seed}`, async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(walk, async ({ steps, ...options }) => {
        const way = await IndexWalk.open(options);
        try {
          await way.expectRight();
          for (const next of steps) {
            await way.step(next).catch((error: unknown) => {
              throw new Error(`step ${taken % STEPS_PER_WALK}, ${next.do}: ${error instanceof Error ? error.message : String(error)}`, {
                cause: error
              });
            });
            taken++;
          }
        } finally {
          await way.close();
        }
      }),
      { numRuns: walks, seed, endOnFailure: process.env['TEST_SHRINK'] === undefined }
    );
    expect(taken).to.equal(walks * STEPS_PER_WALK);
  });
});
