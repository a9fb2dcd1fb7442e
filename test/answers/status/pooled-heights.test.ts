import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { bcoin } from '../../support/bcoin/bcoin';
import { madeTransaction } from '../../support/chain/made-blocks';
import { NotifyingNode } from '../../support/node/notifying-node';
import { PoolWalk, scriptHash, SCRIPTS, type Outpoint } from '../../support/pool/walk';
import { mine } from '../../support/bcoin/regtest-node';
import type { HostTransaction } from '../../../lib/node/host';

/** Inputs of one transaction. */
const MANY = 500;
const [FEE, SMALL_FEE] = [1_000_000, 10_000] as const;
const CLIENT = { isGone: false };

describe('heights of transactions of the pool', () => {
  let walk: PoolWalk;
  let all: NotifyingNode;
  /** Its transactions are those of this test alone. */
  const own = Buffer.from('5175', 'hex');
  const anybodys = SCRIPTS[0]?.script ?? Buffer.alloc(0);
  /** A confirmed transaction whose outputs anybody may spend. */
  let fund: HostTransaction;
  let value: number;

  before(async () => {
    walk = await PoolWalk.start();
    all = await NotifyingNode.beside(walk.host);
    const coin = (await walk.spendable()).find((each) => walk.coin(each).script.equals(anybodys));
    if (coin === undefined) throw new Error('expected a coin');
    value = Math.floor((walk.coin(coin).value - FEE) / (MANY + 2));
    fund = await pay([coin], { value, script: anybodys }, MANY + 2);
    await mine(walk.host, 1);
    await all.untilNotified();
  });
  after(async () => {
    await all.close();
    await walk.close();
  });

  const pay = async (coins: readonly Outpoint[], output: { value: number; script: Buffer }, count = 1): Promise<HostTransaction> => {
    const transaction = bcoin.TX.fromRaw(madeTransaction(coins, Array<typeof output>(count).fill(output), 0));
    await walk.host.mempool.addTX(transaction);
    return transaction;
  };

  /** The heights of our script's transactions, with what is done after the turn of the snapshot, and how many coins were read. */
  async function heights(meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<{ heights: number[]; coins: number }> {
    let coins = 0;
    const entries = await all.scripts.reader.read(async (snapshot) => {
      const index = watched(snapshot.index, {
        coin: () => {
          coins++;
        }
      });
      const history = all.histories.at(scriptHash(own), watched(snapshot, { index: () => index }));
      await meanwhile();
      return history.unconfirmed(CLIENT);
    });
    return { heights: entries.map(({ height }) => height), coins };
  }

  it('are found without reading the coins that are spent', async () => {
    const coins = Array.from({ length: MANY }, (_, index) => ({ txid: fund.hash(), index }));
    await pay(coins, { value: MANY * value - FEE, script: own });
    expect(await heights()).to.deep.equal({ heights: [0], coins: 0 });
    await mine(walk.host, 1);
    await all.untilNotified();
    expect(await heights()).to.deep.equal({ heights: [], coins: 0 });
  });

  /** A transaction of the pool, and one that spends from it and pays to our script. */
  async function payBoth(index: number): Promise<HostTransaction> {
    const parent = await pay([{ txid: fund.hash(), index }], { value: value - SMALL_FEE, script: anybodys });
    await pay([{ txid: parent.hash(), index: 0 }], { value: value - 2 * SMALL_FEE, script: own });
    return parent;
  }

  it('are those of the moment, even if a parent leaves the pool for a block meanwhile, or comes back', async () => {
    const parent = await payBoth(MANY);
    const before = await heights(async () => {
      await walk.host.chain.add(await walk.mined([parent]));
      while (all.pool.has(parent.hash())) await nextTurn();
    });
    expect(before).to.deep.equal({ heights: [-1], coins: 0 });
    await all.untilNotified();
    const confirmed = await heights(() => walk.goBack('fork', 1));
    expect(confirmed).to.deep.equal({ heights: [0], coins: 0 });
    await all.untilNotified();
    expect(all.pool.has(parent.hash())).to.equal(true);
    expect(await heights()).to.deep.equal({ heights: [-1], coins: 0 });
  });

  it('count a parent as confirmed that the block at the tip has, even if the pool has it too', async () => {
    const parent = await payBoth(MANY + 1);
    const found: Promise<{ heights: number[]; coins: number }>[] = [];
    const watching = all.scripts.watched.changes$.subscribe(({ type }) => {
      if (type !== 'connect') return;
      expect(all.pool.has(parent.hash())).to.equal(true);
      found.push(heights());
    });
    all.passes.watch(scriptHash(own).toString('latin1'));
    await walk.mineOnly([parent]);
    await all.untilNotified();
    watching.unsubscribe();
    all.passes.unwatch(scriptHash(own).toString('latin1'));
    expect(await Promise.all(found)).to.deep.equal([{ heights: [0, -1], coins: 0 }]);
  });
});

/** The object, with functions that are called when a member is used. What they return is used instead of it. */
function watched<T extends object>(target: T, uses: Partial<Record<keyof T, () => unknown>>): T {
  return new Proxy(target, {
    get: (_, member) => {
      const instead = uses[member as keyof T]?.();
      if (instead !== undefined) return instead;
      const own: unknown = Reflect.get(target, member, target);
      return typeof own === 'function' ? (own as (...values: unknown[]) => unknown).bind(target) : own;
    }
  });
}
