import { expect } from 'chai';
import fc from 'fast-check';
import { afterEach, describe, it } from 'mocha';
import { ChainCoins } from '../../lib/answers/scripts/coins';
import { ChainTotals } from '../../lib/answers/scripts/totals';
import { ScriptHistories } from '../../lib/answers/status/history';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { MethodCaller } from '../support/method-caller';
import { mine } from '../support/regtest-node';
import { NotifyingNode } from '../support/notifying-node';
import { POOLS, PoolWalk, scriptHash, SCRIPTS } from '../support/pool-walk';
import { testScale, testSeed } from '../support/scale';
import type { ElectrumClient } from '../../lib/electrum/method';

const RUNS = 4 * testScale();
const seed = testSeed();

const METHODS = ['get_history', 'get_balance', 'listunspent', 'get_mempool'].map((name) => `blockchain.scripthash.${name}`);
const NAMES = SCRIPTS.map(({ script }) => toDisplayHex(scriptHash(script)));
const CALLS = METHODS.flatMap((method) => NAMES.map((name) => ({ method, name })));

/** A caller whose answers are all made anew. */
function uncached({ answers, serving }: NotifyingNode): MethodCaller {
  const cache = new AnswerCache(1 << 20);
  const totals = new ChainTotals(cache);
  const coins = new ChainCoins(answers.blocks, totals, cache);
  return new MethodCaller({
    serving,
    answers: { ...answers, cache, totals, coins, histories: new ScriptHistories(answers.pooled, totals) }
  });
}

describe('answers by script that are cached', () => {
  let walk: PoolWalk | undefined;
  let all: NotifyingNode | undefined;

  const beside = async (started: PoolWalk): Promise<{ readonly walk: PoolWalk; readonly all: NotifyingNode }> => {
    walk = started;
    return { walk: started, all: (all = await NotifyingNode.beside(started.host)) };
  };
  const close = async (): Promise<void> => {
    await all?.close();
    await walk?.close();
    all = walk = undefined;
  };
  afterEach(close);

  for (const { name, start, step } of POOLS)
    it(`are those that are made anew, after each step of a node with ${name} (TEST_SEED=${seed})`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
          await close();
          const { walk, all } = await beside(await start());
          const caller = new MethodCaller(all);
          for (const step of steps) {
            await walk.step(step);
            await all.settle();
            const fresh = uncached(all);
            for (const { method, name } of CALLS) {
              const expected = await fresh.call(method, [name]);
              // From the second time on an answer may be cached.
              for (const time of ['once', 'twice', 'again'])
                expect(await caller.call(method, [name]), `${method} ${time}`).to.deep.equal(expected);
            }
          }
        }),
        { numRuns: RUNS, seed, endOnFailure: true }
      );
    }).timeout(120_000 * testScale());

  it('are given in the turn in which they are asked for, until a block or the pool has to do with the script', async () => {
    const { walk, all } = await beside(await PoolWalk.start());
    const { table, subscriptions } = new MethodCaller(all);
    const client: ElectrumClient = { protocol: '1.6', subscriptions, isGone: false, charge: () => undefined };
    const ask = (method: string): unknown => table[method]?.answer([NAMES[0]], client);
    const asked = METHODS.slice(0, 3);
    for (const method of asked) for (let time = 0; time < 2; time++) await ask(method);
    const areAtOnce = (): boolean[] => asked.map((method) => !(ask(method) instanceof Promise));
    expect(areAtOnce()).to.deep.equal([true, true, true]);
    await mine(walk.host, 3);
    await all.settle();
    expect(areAtOnce(), 'after blocks without the script').to.deep.equal([true, true, true]);
    await walk.step({ do: 'send', spends: [0], pays: [0, 0], fee: 5_000 });
    await all.settle();
    expect(areAtOnce(), 'with a transaction of the pool').to.deep.equal([false, false, false]);
    await walk.step({ do: 'mine' });
    await all.settle();
    expect(areAtOnce(), 'after a block with the script').to.deep.equal([false, false, false]);
  });
});
