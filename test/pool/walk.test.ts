import fc from 'fast-check';
import { afterEach, describe, it } from 'mocha';
import { POOLS, type PoolStep, type PoolWalk } from '../support/pool/walk';
import { testScale, testSeed } from '../support/process/scale';

const RUNS = 12 * testScale();
const seed = testSeed();

describe('the pool by script', () => {
  let walk: PoolWalk | undefined;

  const close = async (): Promise<void> => {
    await walk?.close();
    walk = undefined;
  };
  afterEach(close);

  for (const { name, start, step } of POOLS) {
    const steps: fc.Arbitrary<PoolStep> = fc.oneof(
      { weight: 15, arbitrary: step },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('open anew' as const), meanwhile: fc.array(step, { maxLength: 3 }) }) }
    );

    it(`agrees with ${name}, whatever happens to it (seed ${seed})`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 15, maxLength: 40 }), async (list) => {
          await close();
          walk = await start();
          for (const one of list) {
            await walk.step(one);
            walk.expectWhole();
            walk.expectRight();
          }
        }),
        { numRuns: RUNS, seed, endOnFailure: true }
      );
    }).timeout(300_000 * testScale());
  }
});
