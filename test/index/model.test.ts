import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { STORE_CALLS } from '../support/faulty-store';
import { IndexWalk, type NodeStep, type WalkStep } from '../support/index-walk';
import { KINDS, type BlockPlan } from '../support/mined-blocks';
import { testScale, testSeed } from '../support/scale';

const STEPS_PER_WALK = 30;
const WALKS = 20;

const plan: fc.Arbitrary<BlockPlan> = fc.record({
  repeat: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
  transactions: fc.array(fc.record({
    spends: fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 3 }),
    outputs: fc.array(fc.oneof({ weight: 20, arbitrary: fc.nat({ max: 3 }) }, { weight: 1, arbitrary: fc.nat({ max: KINDS.length - 1 }) }), { minLength: 1, maxLength: 4 })
  }), { maxLength: 4 })
});
const plans = (maxLength: number): fc.Arbitrary<BlockPlan[]> => fc.array(plan, { minLength: 1, maxLength });

const nodeStep: fc.Arbitrary<NodeStep> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('mine' as const), plans: plans(3) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fork' as const), back: fc.integer({ min: 1, max: 4 }), plans: plans(6) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('reset' as const, 'reset silently' as const, 'invalidate' as const), back: fc.nat({ max: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replay' as const), back: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'connect or disconnect' as const }) }
);

const step: fc.Arbitrary<WalkStep> = fc.oneof(
  { weight: 6, arbitrary: nodeStep },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), closed: fc.option(nodeStep, { nil: undefined }), opened: fc.option(nodeStep, { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.record({
    do: fc.constant('fault' as const),
    call: fc.constantFrom(...STORE_CALLS),
    n: fc.nat({ max: 6 }),
    afterwards: fc.boolean(),
    meanwhile: nodeStep
  }) }
);

const walk = fc.record({
  disk: fc.boolean(),
  undoDepth: fc.constantFrom(3, 10, 1_000),
  steps: fc.array(step, { minLength: STEPS_PER_WALK, maxLength: STEPS_PER_WALK, size: 'max' })
});

describe('an index on any walk', function () {
  const seed = testSeed();
  const walks = WALKS * testScale();
  this.timeout(60_000 * testScale());

  it(`is at every step, byte for byte, an index built from nothing: ${walks * STEPS_PER_WALK} steps, TEST_SEED=${seed}`, async () => {
    let taken = 0;
    await fc.assert(fc.asyncProperty(walk, async ({ steps, ...options }) => {
      const way = await IndexWalk.open(options);
      try {
        await way.expectRight();
        for (const next of steps) {
          await way.step(next).catch((error: unknown) => {
            throw new Error(`step ${taken % STEPS_PER_WALK}, ${next.do}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
          });
          taken++;
        }
      } finally {
        await way.close();
      }
    }), { numRuns: walks, seed, endOnFailure: process.env['TEST_SHRINK'] === undefined });
    expect(taken).to.equal(walks * STEPS_PER_WALK);
  });
});
