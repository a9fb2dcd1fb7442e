// Walks, with all that is served beside their nodes.

import { expect } from 'chai';
import fc from 'fast-check';
import { afterEach, it } from 'mocha';
import { merge } from 'rxjs';
import { NotifyingNode } from '../node/notifying-node';
import { POOLS, PoolWalk } from './walk';
import { testScale, testSeed } from '../process/scale';

const RUNS = 4 * testScale();
const seed = testSeed();

export interface ServedWalk {
  readonly walk: PoolWalk;
  readonly all: NotifyingNode;
}

/** What is compared on one walk. */
export interface Comparison {
  /** Compares what is in the cache at this moment, in the midst of a step, with what would be answered if it were not. */
  readonly inMidst: () => readonly Promise<void>[];
  /** Compares what may be in the cache once a step has settled. */
  readonly afterStep: () => Promise<void>;
}

/** For a group of tests: begins a walk. It ends, and what is served with it, when the next one begins, and after each test. */
export function servedWalks(): (start?: () => Promise<PoolWalk>) => Promise<ServedWalk> {
  let walk: PoolWalk | undefined;
  let all: NotifyingNode | undefined;
  const close = async (): Promise<void> => {
    await all?.close();
    await walk?.close();
    all = walk = undefined;
  };
  afterEach(close);
  return async (start = () => PoolWalk.start()) => {
    await close();
    walk = await start();
    all = await NotifyingNode.beside(walk.host);
    return { walk, all };
  };
}

/** Tests on random walks, with each pool, that cached answers are those that are made anew. `comparisonOf`: called for each walk. */
export function itIsMadeAnew(
  open: (start: () => Promise<PoolWalk>) => Promise<ServedWalk>,
  comparisonOf: (walked: ServedWalk) => Comparison
): void {
  for (const { name, start, step } of POOLS)
    it(`are those that are made anew, after each step of a node with ${name} and in its midst (TEST_SEED=${seed})`, async () => {
      let inMidst = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
          const walked = await open(start);
          const { walk, all } = walked;
          const comparison = comparisonOf(walked);
          const compared: Promise<void>[] = [];
          const changes = merge(all.scripts.watched.changes$, all.answers.pool.changes$).subscribe(() => {
            compared.push(...comparison.inMidst());
          });
          for (const step of steps) {
            await walk.step(step);
            await all.settle();
            await comparison.afterStep();
          }
          changes.unsubscribe();
          await Promise.all(compared);
          inMidst += compared.length;
        }),
        { numRuns: RUNS, seed, endOnFailure: true }
      );
      expect(inMidst, 'answers from the cache in the midst of a step').to.be.above(0);
    }).timeout(120_000 * testScale());
}
