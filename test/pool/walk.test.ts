import fc from 'fast-check';
import { afterEach, describe, it } from 'mocha';
import { PoolWalk, SCRIPTS, type PoolStep } from '../support/pool-walk';
import { testScale, testSeed } from '../support/scale';

const RUNS = 12 * testScale();
const seed = testSeed();

const nodeStep: fc.Arbitrary<PoolStep> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constantFrom('send' as const, 'send' as const, 'send' as const, 'send into a full pool' as const),
      spends: fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 3 }),
      pays: fc.array(fc.nat({ max: SCRIPTS.length - 1 }), { minLength: 1, maxLength: 4 }),
      fee: fc.integer({ min: 2_000, max: 50_000 })
    })
  },
  { weight: 2, arbitrary: fc.constant({ do: 'mine' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mine a conflict' as const), pick: fc.nat({ max: 20 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('fork' as const, 'fork' as const, 'fork' as const, 'reset' as const, 'invalidate' as const),
      back: fc.integer({ min: 1, max: 3 })
    })
  }
);
const step: fc.Arbitrary<PoolStep> = fc.oneof(
  { weight: 15, arbitrary: nodeStep },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('open anew' as const), meanwhile: fc.array(nodeStep, { maxLength: 3 }) }) }
);

describe('the pool by script', () => {
  let walk: PoolWalk | undefined;

  afterEach(() => walk?.close());

  it(`agrees with the node's pool, whatever happens to it (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40 }), async (steps) => {
        await walk?.close();
        walk = await PoolWalk.start();
        for (const one of steps) {
          await walk.step(one);
          walk.expectRight();
        }
      }),
      { numRuns: RUNS, seed, endOnFailure: true }
    );
  }).timeout(300_000 * testScale());
});
