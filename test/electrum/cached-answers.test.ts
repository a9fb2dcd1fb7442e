import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { ElectrumError } from '../../lib/electrum/errors';
import { ScriptsUnavailableError } from '../../lib/scripts/errors';
import { UnavailableError } from '../../lib/server/errors';
import { MethodCaller } from '../support/node/method-caller';
import { mine } from '../support/bcoin/regtest-node';
import { scriptHash, SCRIPTS } from '../support/pool/walk';
import { itIsMadeAnew, servedWalks } from '../support/pool/served-walks';
import { uncachedAnswers } from '../support/node/uncached-answers';
import type { ElectrumClient, Protocol, Result } from '../../lib/electrum/method';
import type { NotifyingNode } from '../support/node/notifying-node';

const METHODS = ['get_history', 'get_balance', 'listunspent', 'get_mempool'].map((name) => `blockchain.scripthash.${name}`);
const NAMES = SCRIPTS.map(({ script }) => toDisplayHex(scriptHash(script)));

interface Call {
  readonly method: string;
  readonly values: readonly unknown[];
  readonly protocol?: Protocol;
}

/** All headers up to the tip, and those up to the blocks that reorganizations replace. */
const HEADERS: readonly (readonly number[])[] = [
  [0, 2_016],
  [20, 92],
  [0, 112, 111],
  [110, 2]
];

const CALLS: readonly Call[] = [
  ...METHODS.flatMap((method) => NAMES.map((name): Call => ({ method, values: [name] }))),
  ...HEADERS.flatMap((values): Call[] => [
    { method: 'blockchain.block.headers', values },
    { method: 'blockchain.block.headers', values, protocol: '1.4' }
  ])
];

/** A caller whose answers are all made anew. */
const uncached = (all: NotifyingNode): MethodCaller => new MethodCaller({ serving: all.serving, answers: uncachedAnswers(all) });

const client = (
  { subscriptions }: MethodCaller,
  protocol: Protocol = '1.6',
  charge: ElectrumClient['charge'] = () => undefined
): ElectrumClient => ({ protocol, subscriptions, isGone: false, charge });

describe('answers of the Electrum protocol that are cached', () => {
  const open = servedWalks();

  /** Compares what is answered at once at this moment with what is made anew. */
  const comparedNow = (caller: MethodCaller, all: NotifyingNode): Promise<void>[] => {
    const fresh = uncached(all);
    return CALLS.flatMap((call) => {
      const answer = answerNow(caller, call);
      return answer === undefined
        ? []
        : fresh.call(call.method, call.values, call.protocol).then((expected) => {
            expect({ result: JSON.parse(answer.toString()) as unknown }, call.method).to.deep.equal(expected);
          });
    });
  };

  /** Undefined unless it is answered in this turn. */
  const answerNow = (caller: MethodCaller, { method, values, protocol }: Call): Result | undefined => {
    try {
      const answer = caller.table[method]?.answer(values, client(caller, protocol)) ?? expect.fail(`a method ${method}`);
      if (!(answer instanceof Promise)) return answer;
      answer.catch(() => undefined);
      return undefined;
    } catch (error) {
      // Nothing is answered at this moment.
      if (error instanceof UnavailableError || error instanceof ScriptsUnavailableError || error instanceof ElectrumError) return undefined;
      throw error;
    }
  };

  itIsMadeAnew(open, ({ all }) => {
    const caller = new MethodCaller(all);
    return {
      inMidst: () => comparedNow(caller, all),
      afterStep: async () => {
        const fresh = uncached(all);
        for (const { method, values, protocol } of CALLS) {
          const expected = await fresh.call(method, values, protocol);
          // From the second time on an answer may be cached.
          for (const time of ['once', 'twice', 'again'])
            expect(await caller.call(method, values, protocol), `${method} ${time}`).to.deep.equal(expected);
        }
      }
    };
  });

  it('cost less than new ones, if they are proofs: hashes are charged for only when a tree is made', async () => {
    const { walk, all } = await open();
    const caller = new MethodCaller(all);
    const { height } = walk.host.chain.tip;
    for (const [method, values] of [
      ['blockchain.transaction.id_from_pos', [height, 0, true]],
      ['blockchain.block.header', [height - 2, height - 1]]
    ] as const) {
      const pointsOf = async (): Promise<number> => {
        let points = 0;
        await caller.table[method]?.answer(
          values,
          client(caller, '1.6', (more) => (points += more))
        );
        return points;
      };
      const [once, twice, again] = [await pointsOf(), await pointsOf(), await pointsOf()];
      expect([once > 0, twice, again], method).to.deep.equal([true, once, 0]);
    }
  });

  it('are given in the turn in which they are asked for, if they are by script, until a block or the pool has to do with it', async () => {
    const { walk, all } = await open();
    const caller = new MethodCaller(all);
    const ask = (method: string): unknown => caller.table[method]?.answer([NAMES[0]], client(caller));
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
