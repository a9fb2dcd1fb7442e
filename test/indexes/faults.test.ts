import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { allowEarlySpends, allowSpendsAsShipped } from '../support/chain/early-spends';
import { SCRIPT_STORE_CALLS, STORE_CALLS, type StoreCall } from '../support/index/faulty-store';
import { IndexWalk, type NodeStep } from '../support/index/walk';
import { spendingBlocks } from '../support/chain/mined-blocks';
import { testScale } from '../support/process/scale';
import type { WalkedIndex } from '../support/index/walked-index';

const UNDO_DEPTH = 3;
const SCALE = testScale();

/** `mostCases`: if there are at most this many calls of a kind, each fails in turn; of more calls, this many are chosen evenly. */
const SUITES = [
  { scripts: false, disk: false, bootstrap: 'blocks', mostCases: 3 * SCALE },
  { scripts: false, disk: false, bootstrap: 'coins', mostCases: SCALE },
  { scripts: false, disk: true, bootstrap: 'blocks', mostCases: 2 * SCALE },
  { scripts: true, disk: false, bootstrap: 'blocks', mostCases: SCALE },
  // On disk it is filled by a thread, which opens the store itself.
  ...(SCALE > 1 ? [{ scripts: true, disk: true, bootstrap: 'blocks', mostCases: SCALE } as const] : [])
] as const;

/** How many blocks are replaced at most. */
const DEEPEST = 5;

/** Blocks, a reorganization, a reorganization that is deeper than the undo records, resets. */
const STEPS: readonly NodeStep[] = [
  { do: 'mine', plans: spendingBlocks(2) },
  { do: 'fork', back: 2, plans: spendingBlocks(3) },
  { do: 'reset', back: 2 },
  { do: 'mine', plans: spendingBlocks(1) },
  { do: 'fork', back: DEEPEST, plans: spendingBlocks(DEEPEST + 1) },
  { do: 'reset silently', back: 0 }
];

for (const { scripts, disk, bootstrap, mostCases } of SUITES) {
  /** The calls that the index and its readers make. */
  const kinds: readonly StoreCall[] = scripts
    ? [...STORE_CALLS, ...SCRIPT_STORE_CALLS].filter((call) => call !== 'prepareFor' && call !== 'snapshot.load')
    : STORE_CALLS;

  describe(`an index${scripts ? ' by script' : ''} whose store ${disk ? 'on disk' : 'in memory'} fails, started from ${bootstrap}`, function () {
    this.timeout(300_000 * SCALE);
    before(allowEarlySpends);
    after(allowSpendsAsShipped);
    let walk: IndexWalk;
    let index: WalkedIndex;
    let firstHeight: number;
    const calls = new Map<StoreCall, number>();

    const everything = async (): Promise<void> => {
      const { height } = walk.host.chain;
      for (const step of STEPS) {
        await walk.nodeStep(step);
        await walk.main.expectHonest(firstHeight - DEEPEST);
      }
      expect(walk.host.chain.height - height, 'blocks that the chain went on by').to.equal(2 + 1 - 2 + 1 + 1 - 1);
    };

    before(async () => {
      walk = await IndexWalk.open({ disk, undoDepth: UNDO_DEPTH, bootstrap, scripts });
      // What the thread does not write: a page of 128 txids that becomes full.
      if (scripts && disk)
        await walk.nodeStep({ do: 'mine', plans: Array.from({ length: 90 }, () => ({ repeat: undefined, transactions: [] })) });
      index = scripts ? walk.scripts : walk.main;
      firstHeight = walk.host.chain.height;
      await walk.expectRight();
      const before = { ...index.store.calls };
      await walk.reopen();
      await index.untilAtRest();
      await everything();
      // The effects of the last steps are still in progress.
      for (const each of walk.indexes) await each.untilAtRest();
      await index.expectHonest();
      for (const call of kinds) calls.set(call, index.store.calls[call] - before[call]);
    });

    // On a chain that grew with every fault, the checks would take longer and longer.
    beforeEach(async () => {
      await walk.nodeStep({ do: 'reset', back: walk.host.chain.height - firstHeight });
      await walk.expectRight();
    });

    after(() => walk.close());

    for (const call of kinds) {
      for (const afterwards of call === 'batch' || call === 'clear' ? [false, true] : [false]) {
        it(`lets ${scripts ? 'chain and index' : 'the chain'} continue, answers nothing wrong and is right on the healed store: ${call}${afterwards ? ', after it was done' : ''}`, async () => {
          const count = calls.get(call) ?? 0;
          expect(count).to.be.greaterThan(0);
          const stride = Math.max(1, Math.ceil(count / mostCases));
          for (let n = 0; n < count; n += stride) {
            await walk.faultStep(index, { call, n, afterwards }, everything);
            expect(index.store.hasFailed, `call ${n} of ${count}`).to.equal(true);
          }
        });
      }
    }

    if (scripts)
      it('is right, or waits, while the store of the index fails', async () => {
        for (const [call, n] of [
          ['snapshot.get', 7],
          ['batch', 2],
          ['clear', 0]
        ] as const) {
          await walk.faultStep(walk.main, { call, n, afterwards: false }, everything);
          expect(walk.main.store.hasFailed, call).to.equal(true);
        }
      });
  });
}
