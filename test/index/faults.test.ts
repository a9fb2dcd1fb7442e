import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { STORE_CALLS, type StoreCall } from '../support/faulty-store';
import { IndexWalk, type NodeStep } from '../support/index-walk';
import { testScale } from '../support/scale';
import type { BlockPlan } from '../support/mined-blocks';

const UNDO_DEPTH = 3;
/** If there are at most this many calls of a kind, each fails in turn; of more calls, this many are chosen evenly. */
const INDEXES = [
  { disk: false, bootstrap: 'blocks', mostCases: 5 },
  { disk: false, bootstrap: 'coins', mostCases: 2 },
  { disk: true, bootstrap: 'blocks', mostCases: 2 }
] as const;

const spending: BlockPlan = {
  repeat: undefined,
  transactions: [
    { spends: [3, 60], outputs: [0, 1, 3] },
    { spends: [199], outputs: [2] }
  ]
};
const blocks = (count: number): BlockPlan[] => Array.from({ length: count }, () => spending);

/** Blocks, a reorganization, a reorganization that is deeper than the undo records, resets. */
const steps: readonly NodeStep[] = [
  { do: 'mine', plans: blocks(2) },
  { do: 'fork', back: 2, plans: blocks(3) },
  { do: 'reset', back: 2 },
  { do: 'mine', plans: blocks(1) },
  { do: 'fork', back: 5, plans: blocks(6) },
  { do: 'reset silently', back: 0 }
];

for (const { disk, bootstrap, mostCases } of INDEXES) {
  describe(`an index whose store ${disk ? 'on disk' : 'in memory'} fails, started from ${bootstrap}`, function () {
    this.timeout(300_000 * testScale());
    let walk: IndexWalk;
    let firstHeight: number;
    const calls = new Map<StoreCall, number>();

    const everything = async (): Promise<void> => {
      const { height } = walk.host.chain;
      for (const step of steps) {
        await walk.nodeStep(step);
        walk.expectHonest();
      }
      expect(walk.host.chain.height - height, 'blocks that the chain went on by').to.equal(2 + 1 - 2 + 1 + 1 - 1);
    };

    before(async () => {
      walk = await IndexWalk.open({ disk, undoDepth: UNDO_DEPTH, bootstrap });
      firstHeight = walk.host.chain.height;
      await walk.expectRight();
      const before = { ...walk.store.calls };
      await walk.stepUnchecked({ do: 'restart', closed: undefined, opened: undefined });
      await walk.untilAtRest();
      await everything();
      // The effects of the last steps are still in progress.
      await walk.untilAtRest();
      for (const call of STORE_CALLS) calls.set(call, walk.store.calls[call] - before[call]);
    });

    // On a chain that grew with every fault, the checks would take longer and longer.
    beforeEach(async () => {
      await walk.nodeStep({ do: 'reset', back: walk.host.chain.height - firstHeight });
      await walk.expectRight();
    });

    after(() => walk.close());

    for (const call of STORE_CALLS) {
      for (const afterwards of call === 'batch' || call === 'clear' ? [false, true] : [false]) {
        it(`lets the chain continue, answers nothing wrong and is right on the healed store: ${call}${afterwards ? ', after it was done' : ''}`, async () => {
          const count = calls.get(call) ?? 0;
          expect(count).to.be.greaterThan(0);
          const stride = Math.max(1, Math.floor(count / (mostCases * testScale())));
          for (let n = 0; n < count; n += stride) {
            await walk.faultStep(call, n, afterwards, everything);
            expect(walk.store.hasFailed, `call ${n} of ${count}`).to.equal(true);
          }
        });
      }
    }
  });
}
