import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { scanBlock } from '../../../lib/bitcoin/block';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { MemoryStore } from '../../../lib/store/memory-store';
import { bcoin } from '../../support/bcoin/bcoin';
import { FaultyStore } from '../../support/index/faulty-store';
import { untilPageIsFull } from './full-page';
import { madeTransaction } from '../../support/chain/made-blocks';
import { NotifyingNode } from '../../support/node/notifying-node';
import { PoolWalk, scriptHash, SCRIPTS, type Outpoint } from '../../support/pool/walk';
import { mine } from '../../support/bcoin/regtest-node';
import type { ClientSubscriptions } from '../../../lib/electrum/server/client-subscriptions';
import type { HostTransaction } from '../../../lib/node/host';

const FEE = 10_000;
const [PAYER, PARENT, CHILD] = [0, 1, 2] as const;
const scriptOf = (kind: number): Buffer => SCRIPTS[kind]?.script ?? expect.fail('a script');

describe('the notifier reads from the index by script', () => {
  let walk: PoolWalk;
  let store: FaultyStore;
  let all: NotifyingNode;
  let client: ClientSubscriptions;
  let told: number;
  let coins: Outpoint[];

  beforeEach(async () => {
    walk = await PoolWalk.start();
    store = new FaultyStore(new MemoryStore());
    all = await NotifyingNode.beside(walk.host, store);
    told = 0;
    client = all.client(() => told++);
    // Without it there would be no pass.
    await subscribe(randomBytes(20));
    coins = (await walk.spendable()).filter((coin) => walk.coin(coin).script.equals(scriptOf(PAYER)));
  });
  afterEach(async () => {
    await all.close();
    await walk.close();
  });

  async function subscribe(script: Buffer): Promise<void> {
    await client.addScript(scriptHash(script), toDisplayHex(scriptHash(script)));
  }

  const coin = (): Outpoint => coins.pop() ?? expect.fail('a coin');
  const payment = (): HostTransaction => walk.made([coin()], [CHILD], FEE) ?? expect.fail('a transaction');
  const sent = async (spends: Outpoint, pays: number): Promise<Buffer> =>
    (await walk.send([spends], [pays], FEE)) ?? expect.fail('a transaction');

  /** Sends a transaction that spends a coin, and one that spends the first and pays to another script. */
  async function sendBoth(): Promise<{ readonly spent: Outpoint; readonly parent: HostTransaction }> {
    const spent = coin();
    const txid = await sent(spent, PARENT);
    await sent({ txid, index: 0 }, CHILD);
    return { spent, parent: walk.host.mempool.getTX(walk.hostHash(txid)) ?? expect.fail('a transaction of the pool') };
  }

  /** How many times something was read for what `happens`. */
  async function readFor(happens: () => Promise<unknown>): Promise<number> {
    const reads = (): number => store.calls['snapshot.head'] + store.calls['pages.visit'];
    await all.untilNotified();
    const before = reads();
    await happens();
    await all.untilNotified();
    return reads() - before;
  }

  const mineToFullPage = (): Promise<void> =>
    untilPageIsFull(store, async () => {
      await walk.mineOnly([]);
      await all.untilNotified();
    });

  it('nothing when a block pays to a script, be the script used or not, or be it the coinbase that pays', async () => {
    const unused = Buffer.from('52', 'hex');
    const address = bcoin.KeyRing.generate().getAddress();
    const [mined] = await mine(walk.host, 1, undefined, address);
    const [reward] = scanBlock(mined?.toRaw() ?? Buffer.alloc(0)).transactions[0]?.outputs ?? [];
    await all.untilNotified();
    for (const script of [scriptOf(CHILD), unused, reward?.script ?? expect.fail('an output')]) await subscribe(script);
    const paying = bcoin.TX.fromRaw(madeTransaction([coin()], [{ value: 1_000, script: unused }], 0));
    expect(await readFor(() => walk.mineOnly([payment(), paying]))).to.equal(0);
    expect(await readFor(() => mine(walk.host, 1, undefined, address))).to.equal(0);
    expect(told).to.equal(3);
  });

  it('only once after each block when transactions enter the pool', async () => {
    await mineToFullPage();
    await subscribe(scriptOf(CHILD));
    expect(await readFor(() => sent(coin(), CHILD))).to.be.above(0);
    expect(await readFor(() => sent(coin(), CHILD))).to.equal(0);
    expect(told).to.equal(2);
  });

  it('nothing for an answer while the confirmed part is cached', async () => {
    await subscribe(scriptOf(CHILD));
    await sent(coin(), CHILD);
    const asking: Promise<unknown>[] = [];
    const watching = all.pool.changes$.subscribe(() => {
      asking.push(Promise.resolve(all.client(() => undefined).addScript(scriptHash(scriptOf(CHILD)), 'a name')));
    });
    expect(await readFor(() => sent(coin(), CHILD).then(() => Promise.all(asking)))).to.equal(0);
    watching.unsubscribe();
    expect(asking).to.have.length(1);
  });

  it('nothing at the next block for a script whose transaction no longer waits for another one', async () => {
    const { parent } = await sendBoth();
    await subscribe(scriptOf(CHILD));
    await walk.mineOnly([parent]);
    expect(await readFor(() => walk.mineOnly([]))).to.equal(0);
    expect(told).to.equal(1);
  });

  it('nothing in a reorganization for a script whose transactions have left the pool', async () => {
    const { spent } = await sendBoth();
    await subscribe(scriptOf(CHILD));
    await walk.mineOnly([walk.made([spent], [PAYER], 2 * FEE) ?? expect.fail('a transaction')]);
    expect(await readFor(() => walk.goBack('fork', 1))).to.equal(0);
    expect(told).to.equal(1);
  });

  it('nothing for a script that nobody is subscribed to any more', async () => {
    await sendBoth();
    await subscribe(scriptOf(CHILD));
    client.removeScript(scriptHash(scriptOf(CHILD)));
    expect(await readFor(() => walk.goBack('fork', 1))).to.equal(0);
  });

  it('nothing for a script whose last subscriber leaves before a pass', async () => {
    await subscribe(scriptOf(CHILD));
    // Whoever looks at the pool has to read which transactions this block confirmed.
    await mineToFullPage();
    const watching = all.pool.changes$.subscribe(() => client.removeScript(scriptHash(scriptOf(CHILD))));
    expect(await readFor(() => sent(coin(), CHILD))).to.equal(0);
    watching.unsubscribe();
    expect(told).to.equal(0);
  });

  it('nothing for a script whose last subscriber leaves during a pass', async () => {
    const { parent } = await sendBoth();
    await subscribe(scriptOf(CHILD));
    const other = all.client(() => client.removeScript(scriptHash(scriptOf(CHILD))));
    all.index.reader.read(({ tip }) => {
      other.addHeaders(tip);
    });
    await walk.mineOnly([parent]);
    expect(await readFor(() => walk.goBack('fork', 1))).to.equal(0);
    expect(told).to.equal(0);
  });
});
