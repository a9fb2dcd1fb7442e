import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { allowEarlySpends, allowSpendsAsShipped } from '../support/chain/early-spends';
import { IndexWalk } from '../support/index/walk';
import { testScale, testSeed } from '../support/process/scale';
import { nodeStep } from '../support/index/walk-steps';

const STEPS = 4;

describe('a reader that asks the index by script all the time', function () {
  const seed = testSeed();
  const steps = STEPS * testScale();
  this.timeout(300_000 * testScale());
  before(allowEarlySpends);
  after(allowSpendsAsShipped);

  for (const [undoDepth, waits] of testScale() > 1
    ? ([
        [3, false],
        [3, true],
        [1_000, true]
      ] as const)
    : ([[3, true]] as const))
    it(`gets the state of one block, whatever the chain does: ${steps} steps, ${undoDepth} blocks can be undone, the store ${waits ? 'waits' : 'answers at once'}, TEST_SEED=${seed}`, async () => {
      const walk = await IndexWalk.open({ disk: false, undoDepth, scripts: true, waits });
      let isOver = false;
      let answers = 0;
      const ask = async (): Promise<void> => {
        while (!isOver) {
          if (await walk.scripts.expectHonest()) answers++;
          // With a store in memory all waiting ends within microtasks.
          await setImmediate();
        }
      };
      const asking = ask();
      try {
        for (const step of fc.sample(nodeStep, { seed, numRuns: steps })) {
          await walk.nodeStep(step);
          const before = answers;
          while (answers === before) await Promise.race([asking, setImmediate()]);
        }
      } finally {
        isOver = true;
        await asking;
      }
      await walk.expectRight();
      await walk.close();
      expect(answers).to.be.at.least(steps);
    });
});
