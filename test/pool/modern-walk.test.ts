import fc from 'fast-check';
import { afterEach, describe, it } from 'mocha';
import { poolStep, PoolWalk, replacingStep, type PoolStep } from '../support/pool-walk';
import { testScale, testSeed } from '../support/scale';

const RUNS = 12 * testScale();
const seed = testSeed();

const step: fc.Arbitrary<PoolStep> = fc.oneof(
  { weight: 15, arbitrary: poolStep },
  { weight: 8, arbitrary: replacingStep },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('open anew' as const), meanwhile: fc.array(replacingStep, { maxLength: 3 }) }) }
);

describe('the pool by script of a node with the modern pool', () => {
  let walk: PoolWalk | undefined;

  afterEach(() => walk?.close());

  it(`agrees with the node's pool, in which transactions replace others (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 50 }), async (steps) => {
        await walk?.close();
        walk = await PoolWalk.startModern();
        for (const one of steps) {
          await walk.step(one);
          walk.expectWhole();
          walk.expectRight();
        }
      }),
      { numRuns: RUNS, seed, endOnFailure: true }
    );
  }).timeout(300_000 * testScale());
});
