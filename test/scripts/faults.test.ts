import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { STORE_CALLS, type StoreCall } from '../support/faulty-store';
import { IndexWalk, type NodeStep } from '../support/index-walk';
import { testScale } from '../support/scale';
import type { BlockPlan } from '../support/mined-blocks';

const UNDO_DEPTH = 3;
/** If there are at most this many calls of a kind, each fails in turn; of more calls, this many are chosen evenly. */
const MOST_CASES = testScale();
/** A store on disk is filled by a thread, which opens it itself. */
const STORES = testScale() > 1 ? [false, true] : [false];

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

/** The calls that the index by script and its readers make. */
const CALLS = ([...STORE_CALLS, 'snapshot.range'] as const).filter((call) => call !== 'prepareFor');

for (const disk of STORES)
  describe(`an index by script whose store ${disk ? 'on disk' : 'in memory'} fails`, function () {
    this.timeout(300_000 * testScale());
    let walk: IndexWalk;
    const calls = new Map<StoreCall, number>();

    const everything = async (): Promise<void> => {
      const { height } = walk.host.chain;
      for (const step of steps) await walk.nodeStep(step);
      expect(walk.host.chain.height - height, 'blocks that the chain went on by').to.equal(2 + 1 - 2 + 1 + 1 - 1);
    };

    before(async () => {
      walk = await IndexWalk.open({ disk, undoDepth: UNDO_DEPTH, scripts: true });
      await walk.expectRight();
      const { store } = walk.scripts ?? expect.fail('an index by script');
      const before = { ...store.calls };
      await walk.reopen();
      await walk.scripts?.untilAtRest();
      await everything();
      await walk.untilAtRest();
      await walk.scripts?.untilAtRest();
      await walk.expectHonestScripts();
      for (const call of CALLS) calls.set(call, store.calls[call] - before[call]);
    });

    after(() => walk.close());

    for (const call of CALLS) {
      for (const afterwards of call === 'batch' || call === 'clear' ? [false, true] : [false]) {
        it(`lets chain and index continue, answers nothing wrong and is right on the healed store: ${call}${afterwards ? ', after it was done' : ''}`, async () => {
          const count = calls.get(call) ?? 0;
          expect(count).to.be.greaterThan(0);
          const stride = Math.max(1, Math.floor(count / MOST_CASES));
          for (let n = 0; n < count; n += stride) {
            await walk.scriptsFaultStep(call, n, afterwards, everything);
            expect(walk.scripts?.store.hasFailed, `call ${n} of ${count}`).to.equal(true);
          }
        });
      }
    }

    it('is right, or waits, while the store of the index fails', async () => {
      for (const [call, n] of [
        ['snapshot.get', 7],
        ['batch', 2],
        ['clear', 0]
      ] as const) {
        walk.store.fail(call, n);
        await everything();
        await walk.untilAtRest();
        await walk.expectHonestScripts();
        expect(walk.store.hasFailed, call).to.equal(true);
        walk.store.heal();
        await walk.reopen();
        await walk.expectRight();
      }
    });
  });
