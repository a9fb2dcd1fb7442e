import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
// Without this bcoin 1.0.2 does not find its own data on disk.
import '../../plugin/leveldown-6';
import { BcoinNode } from '../../lib/node/bcoin';
import { ScriptPool } from '../../lib/pool/by-script/script-pool';
import { unfailing } from '../support/expectations/unfailing';
import { bcoin } from '../support/bcoin/bcoin';
import { PoolWalk, scriptHash, SCRIPTS } from '../support/pool/walk';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import type { HostTransaction } from '../../lib/node/host';

const FEE = 10_000;
const [ANYBODY, OTHER, , , , DATA] = SCRIPTS.map(({ script }) => scriptHash(script)) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];

describe('the pool by script', () => {
  let walk: PoolWalk;

  beforeEach(async () => {
    walk = await PoolWalk.start();
  });

  afterEach(() => walk.close());

  /** Spends one confirmed coin, or the first output of a transaction, for `pays`. */
  async function send(pays: readonly number[], parent?: Buffer): Promise<Buffer> {
    const [confirmed] = await walk.spendable();
    const spends = parent === undefined ? confirmed : { txid: parent, index: 0 };
    return (spends && (await walk.send([spends], pays, FEE))) ?? expect.fail('a coin');
  }

  const historyOf = (script: Buffer): Buffer[] => walk.pool.history(script).map(({ txid }) => txid);

  it('knows fee, spent coins and outputs of a transaction while it is in the pool', async () => {
    const [coin] = await walk.spendable();
    if (coin === undefined) expect.fail('a coin');
    const { value } = walk.coin(coin);
    const txid = await send([1, 1, 5]);
    const each = Math.floor((value - FEE) / 3);
    expect(walk.pool.get(txid)).to.deep.include({ txid, fee: value - 3 * each });
    expect(walk.pool.totals(ANYBODY)).to.deep.equal({ transactions: 1, funded: { count: 0, value: 0 }, spent: { count: 1, value } });
    expect(walk.pool.totals(OTHER)).to.deep.equal({
      transactions: 1,
      funded: { count: 2, value: 2 * each },
      spent: { count: 0, value: 0 }
    });
    expect(walk.pool.spender(coin.txid, coin.index)).to.deep.equal({ transaction: walk.pool.get(txid), input: 0 });
    await mine(walk.host, 1);
    expect([walk.pool.size, walk.pool.has(txid), historyOf(OTHER)]).to.deep.equal([0, false, []]);
    expect(walk.pool.totals(OTHER).transactions).to.equal(0);
    expect(walk.pool.spender(coin.txid, coin.index)).to.equal(undefined);
  });

  it('has no history for scripts that carry data', async () => {
    await send([5]);
    await send([5, 0]);
    expect(walk.pool.history(DATA)).to.deep.equal([]);
    expect(walk.pool.totals(DATA)).to.deep.equal({ transactions: 0, funded: { count: 0, value: 0 }, spent: { count: 0, value: 0 } });
  });

  it('has a history in the order of entering, also when a reorganization puts a parent back behind its child', async () => {
    const parent = await send([1]);
    const child = await send([1], parent);
    expect(historyOf(OTHER)).to.deep.equal([parent, child]);
    const putBack = walk.host.mempool.getTX(walk.hostHash(parent)) as HostTransaction;
    await walk.mineOnly([putBack]);
    expect(historyOf(OTHER)).to.deep.equal([child]);
    await walk.goBack('fork', 1);
    expect(historyOf(OTHER)).to.deep.equal([child, parent]);
    walk.expectRight();
  });

  it('says that a script changes when a transaction enters or leaves that touches it, or the parent of one', async () => {
    const changes: unknown[] = [];
    const names = new Map(SCRIPTS.map(({ script }, kind) => [scriptHash(script).toString('latin1'), kind]));
    const watching = walk.pool.changes$.subscribe((change) =>
      changes.push(
        change.type === 'clear'
          ? 'clear'
          : { [change.type]: change.transaction.txid, kinds: new Set(change.scripts.map((key) => names.get(key))) }
      )
    );
    const parent = await send([1, 2]);
    const child =
      (await walk.send(
        [0, 1].map((index) => ({ txid: parent, index })),
        [3],
        FEE
      )) ?? expect.fail('coins');
    const grandchild = await send([4], child);
    expect(changes.splice(0)).to.deep.equal([
      { enter: parent, kinds: new Set([0, 1, 2]) },
      { enter: child, kinds: new Set([1, 2, 3]) },
      { enter: grandchild, kinds: new Set([3, 4]) }
    ]);
    await walk.mineOnly([walk.host.mempool.getTX(walk.hostHash(parent)) as HostTransaction]);
    expect(changes.splice(0)).to.deep.equal([{ leave: parent, kinds: new Set([0, 1, 2, 3]) }]);
    await walk.goBack('fork', 1);
    expect(changes.splice(0)).to.deep.equal([{ enter: parent, kinds: new Set([0, 1, 2, 3]) }]);
    await walk.host.chain.reset(walk.host.chain.height - 1);
    expect(changes.splice(0)).to.deep.equal(['clear']);
    watching.unsubscribe();
  });

  it('has no part in keeping ancestors in memory of transactions that have left', async () => {
    const child = await send([1], await send([1]));
    const pooled = walk.pool.get(child) ?? expect.fail('a transaction of the pool');
    expect(pooled.parents).to.have.length(1);
    await mine(walk.host, 1);
    expect([walk.pool.has(child), pooled.parents]).to.deep.equal([false, []]);
  });

  it('loses transactions that conflict with a block, and their descendants', async () => {
    await send([1], await send([1]));
    const replaced: boolean[] = [];
    const watching = walk.pool.changes$.subscribe((change) => {
      if (change.type === 'leave') replaced.push(walk.pool.replacementOf(change.transaction.txid) !== undefined);
    });
    await walk.mineConflict(0);
    watching.unsubscribe();
    // Whoever hears that one leaves gets to know why.
    expect(replaced).to.deep.equal([true, true]);
    expect(walk.pool.size).to.equal(0);
    walk.expectRight();
  });

  it('is empty after a reset', async () => {
    await send([1]);
    const { revision } = walk.pool;
    const isSame = (): boolean => walk.pool.isSamePart(OTHER.toString('latin1'), revision);
    expect(isSame()).to.equal(true);
    await walk.host.chain.reset(walk.host.chain.height - 1);
    expect([walk.pool.size, historyOf(OTHER), isSame()]).to.deep.equal([0, [], false]);
  });

  it('has the last ten transactions that entered, the newest first, also those that left', async () => {
    const entered: Buffer[] = [];
    for (let i = 0; i < 6; i++) entered.unshift(await send([0]));
    await mine(walk.host, 1);
    for (let i = 0; i < 6; i++) entered.unshift(await send([0]));
    const recent = walk.pool.recent();
    expect(recent.map(({ txid }) => txid)).to.deep.equal(entered.slice(0, 10));
    const { raw, spent } = walk.pool.get(entered[0] as Buffer) ?? expect.fail('the last one');
    const inputValue = spent[0]?.value as number;
    expect(recent[0]).to.deep.include({ fee: FEE, weight: 4 * raw.length, vsize: raw.length, inputValue, outputValue: inputValue - FEE });
  });

  it('has the newest transactions that are there, however many others have left', async () => {
    for (let i = 0; i < 70; i++) {
      await send([0]);
      await mine(walk.host, 1);
    }
    expect(walk.pool.newest(10)).to.deep.equal([]);
    const first = await send([0]);
    const second = await send([0]);
    expect(walk.pool.newest(10).map(({ txid }) => txid)).to.deep.equal([second, first]);
    expect(walk.pool.newest(1).map(({ txid }) => txid)).to.deep.equal([second]);
  });

  it('lists a transaction that came back only once among the recent ones, by its last entry', async () => {
    const first = await send([0]);
    await mine(walk.host, 1);
    const second = await send([0]);
    await walk.goBack('fork', 1);
    expect(walk.pool.recent().map(({ txid }) => txid)).to.deep.equal([first, second]);
  });

  it('follows changes while it takes in what was there before', async () => {
    const parent = (await walk.send(await walk.spendable(), Array<number>(120).fill(1), 50_000)) ?? expect.fail('coins');
    await mine(walk.host, 1);
    const sent: Buffer[] = [];
    for (let index = 0; index < 100; index++) sent.push((await walk.send([{ txid: parent, index }], [2], FEE)) as Buffer);
    await walk.openAnew([
      { do: 'send', spends: [0], pays: [1], fee: FEE },
      { do: 'mine a conflict', pick: 0 },
      { do: 'send', spends: [1], pays: [1], fee: FEE }
    ]);
    walk.expectRight();
    expect(walk.pool.size).to.be.within(101, 102);
  });

  it('leaves out a transaction that came without its coins, says so, and goes on', async () => {
    const failures: unknown[] = [];
    const pool = new ScriptPool(walk.node.pool, (error) => failures.push(error));
    await pool.open();
    // It would meet the same.
    walk.pool.close();
    const txid = await send([1]);
    const { size } = pool;
    const { tx } = [...walk.host.mempool.map.values()].at(-1) ?? expect.fail('an entry');
    walk.host.mempool.emit('tx', tx, new bcoin.CoinView());
    expect(failures.map(String)).to.deep.equal(['RangeError: expected the coins of a transaction in the pool']);
    await send([1]);
    expect([pool.size, pool.has(txid)]).to.deep.equal([size, false]);
    pool.close();
  });

  it('opens no longer when it is closed meanwhile', async () => {
    for (let count = 0; count < 3; count++) await send([1]);
    let read = 0;
    const { pool: nodePool } = walk.node;
    const withCoins = nodePool.withCoins.bind(nodePool);
    nodePool.withCoins = (txid) => {
      read++;
      return withCoins(txid);
    };
    const pool = new ScriptPool(nodePool, unfailing);
    const opened = pool.open();
    pool.close();
    await opened;
    expect([read, pool.size]).to.deep.equal([1, 0]);
  });

  const evict = (txid: Buffer): void => {
    const { mempool } = walk.host;
    mempool.evictEntry(mempool.getEntry(walk.hostHash(txid)) ?? expect.fail('an entry'));
  };
  const reset = (): Promise<unknown> => walk.host.chain.reset(walk.host.chain.height - 1);

  for (const [how, leave] of [
    ['alone', evict],
    ['with all others', reset]
  ] as const)
    it(`takes in nothing that entered while it opened and left, ${how}, before its turn came`, async () => {
      await send([1]);
      const { pool: nodePool } = walk.node;
      const withCoins = nodePool.withCoins.bind(nodePool);
      const goOn = new EventEmitter();
      const mayRead = once(goOn, 'read');
      nodePool.withCoins = async (txid) => {
        await mayRead;
        return withCoins(txid);
      };
      const pool = new ScriptPool(nodePool, unfailing);
      const opened = pool.open();
      await leave(await send([1]));
      goOn.emit('read');
      await opened;
      expect(pool.history(OTHER).map(({ txid }) => txid)).to.deep.equal(nodePool.txids());
      pool.close();
    });

  it('is empty when it is closed, and stops following', async () => {
    await send([1]);
    walk.pool.close();
    await send([1]);
    expect([walk.pool.size, historyOf(OTHER), walk.pool.recent()]).to.deep.equal([0, [], []]);
  });
});

describe('the pool by script of a node that kept its pool on disk', () => {
  it('has from the start what was in the pool', async () => {
    const prefix = await mkdtemp(join(tmpdir(), 'bcoin-rest-pool-'));
    const options = { prefix, settings: { 'persistent-mempool': true } };
    const before = await PoolWalk.start(options);
    const [coin] = await before.spendable();
    const parent = (coin && (await before.send([coin], [1], FEE))) ?? expect.fail('a coin');
    const child = (await before.send([{ txid: parent, index: 0 }], [1], FEE)) ?? expect.fail('a coin');
    // bcoin writes its pool to disk with each block.
    await before.mineOnly([]);
    const pooled = [parent, child].map((txid) => before.pool.get(txid));
    await before.close();

    const host = await openRegtestNode(options);
    const pool = new ScriptPool(new BcoinNode(host).pool, unfailing);
    await pool.open();
    expect([parent, child].map((txid) => pool.get(txid))).to.deep.equal(pooled);
    expect(pool.history(OTHER).map(({ txid }) => txid)).to.have.deep.members([parent, child]);
    expect(pool.get(child)?.spent).to.deep.equal([before.coin({ txid: parent, index: 0 })]);
    expect(pool.recent()).to.have.length(2);
    pool.close();
    await host.close();
    await rm(prefix, { recursive: true });
  });
});
