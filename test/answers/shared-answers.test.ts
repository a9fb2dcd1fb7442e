import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { TooManyCoinsError } from '../../lib/scripts/errors';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { ServedNode } from '../support/node/served-node';
import { MethodCaller } from '../support/node/method-caller';
import { mine } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { HostTransaction } from '../../lib/node/host';
import type { ScriptSnapshot } from '../../lib/scripts/types';

const BLOCKS = 12;
const TURNS = 20;

/** The reads of the index by script that take long. */
const LONG = ['totals', 'coins', 'txids'];

/** The script of the key's own address (P2PKH). */
const scriptOf = (ring: HostKeyRing): Buffer =>
  Buffer.concat([Buffer.from('76a914', 'hex'), ring.getKeyHash(), Buffer.from('88ac', 'hex')]);

describe('answers about the chain that two interfaces share', () => {
  const ring: HostKeyRing = bcoin.KeyRing.generate();
  const script = hash('sha256', scriptOf(ring), 'buffer');
  /** Names of long reads that were begun. */
  const begun: string[] = [];
  let served: ServedNode;
  let electrum: MethodCaller;
  let coinbase: HostTransaction;
  /** Requests that have got their snapshot. */
  let reading = 0;
  let goOn: () => void;
  let held: Promise<void>;

  const holding = (snapshot: ScriptSnapshot): ScriptSnapshot =>
    new Proxy(snapshot, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const call = (member as (...values: unknown[]) => unknown).bind(target);
        if (!LONG.includes(String(name))) return call;
        return async (...values: unknown[]) => {
          begun.push(String(name));
          await held;
          return call(...values);
        };
      }
    });

  before(async () => {
    served = await ServedNode.open();
    const { reader } = served.scripts;
    const read = reader.read.bind(reader);
    reader.read = (use) => {
      const result = read((snapshot) => use(holding(snapshot)));
      // Reads of the tip alone are over at once.
      if (result instanceof Promise) reading++;
      return result;
    };
    electrum = new MethodCaller(served);
    const [block] = await mine(served.node, BLOCKS, undefined, ring.getAddress());
    coinbase = block?.txs[0] as HostTransaction;
    await served.settle();
  });
  after(() => served.node.close());
  beforeEach(() => {
    begun.length = reading = 0;
    held = new Promise((resolve) => (goOn = resolve));
  });

  /** The results of requests whose long reads go on when all of them have begun. */
  async function together<T>(requests: readonly (() => Promise<T>)[]): Promise<T[]> {
    const results = Promise.all(requests.map((request) => request()));
    await until(() => reading === requests.length);
    for (let turn = 0; turn < TURNS; turn++) await setImmediate();
    goOn();
    return results;
  }

  const overEsplora = (path: string) => async (): Promise<unknown> => JSON.parse((await served.get(path)).body.toString());
  const overElectrum = (name: string, values: readonly unknown[]) => async (): Promise<unknown> => {
    const answer = await electrum.call(name, values);
    return 'result' in answer ? answer.result : answer.error;
  };
  const reversed = Buffer.from(script).reverse().toString('hex');

  it('are totals that are counted once', async () => {
    const [stats, balance] = await together([
      overEsplora(`/scripthash/${script.toString('hex')}`),
      overElectrum('blockchain.scripthash.get_balance', [reversed])
    ]);
    const sum = BLOCKS * COINBASE_SATS;
    expect(stats).to.have.nested.property('chain_stats.funded_txo_sum', sum);
    expect(balance).to.deep.equal({ confirmed: sum, unconfirmed: 0 });
    expect(begun).to.deep.equal(['totals']);
  });

  it('are coins that are searched for once, even if one interface shows fewer of them', async () => {
    const [coins, others] = await together([
      overEsplora(`/scripthash/${script.toString('hex')}/utxo`),
      overElectrum('blockchain.scripthash.listunspent', [reversed])
    ]);
    expect(coins).to.have.length(BLOCKS);
    expect(others).to.have.length(BLOCKS);
    expect(begun).to.deep.equal(['coins']);
  });

  it('are coins that are searched for again if the first search allowed too few', async () => {
    const { answers } = served;
    // A block that pays to the script, so that what is cached is not right any more.
    await mine(served.node, 1, undefined, ring.getAddress());
    await served.settle();
    const ask = (most: number) => (): Promise<unknown> =>
      answers.scripts
        .read(async (snapshot) => answers.coins.of(script, most, snapshot, { isGone: false }))
        .catch((error: unknown) => error);
    const [few, enough, one] = await together([ask(BLOCKS), ask(BLOCKS + 1), ask(1)]);
    expect(few).to.be.instanceOf(TooManyCoinsError);
    expect(enough).to.have.property('count', BLOCKS + 1);
    expect(one).to.be.instanceOf(TooManyCoinsError);
    expect(begun).to.deep.equal(['coins', 'coins']);
    // That there are too many is cached, too.
    await mine(served.node, 1, undefined, ring.getAddress());
    await served.settle();
    for (let time = 0; time < 2; time++) expect(await ask(BLOCKS + 1)()).to.be.instanceOf(TooManyCoinsError);
    expect(await ask(BLOCKS + 2)()).to.have.property('count', BLOCKS + 2);
  });

  it('are trees of blocks that are made once for all proofs', async () => {
    const txid = toDisplayHex(coinbase.hash());
    const proofs = await together([
      overEsplora(`/tx/${txid}/merkle-proof`),
      ...Array.from({ length: 9 }, () => overElectrum('blockchain.transaction.get_merkle', [txid, 1]))
    ]);
    expect(proofs).to.deep.equal(Array.from({ length: 10 }, () => ({ block_height: 1, merkle: [], pos: 0 })));
    expect(begun).to.deep.equal(['txids']);
  });
});
