import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { HistoryTooLongError } from '../../lib/scripts/errors';
import { needsNode } from '../support/fleet/fleet';
import { ask } from '../support/client/http';
import { KeyWallet, type SignedSpend } from '../support/chain/key-wallet';
import { type PushingNode, txidsOf, withPushingNode } from './pushing-node';
import { blockWith, mine, mineOnly } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { Faucet } from '../support/chain/faucet';
import type { PushClient } from '../support/client/push-client';
import type { ServedNode } from '../support/node/served-node';

const PAID = 50_000;

/** A question that is answered when a test lets it. */
class Held<Asked extends readonly unknown[], Answer> {
  #goOn: () => void = () => undefined;
  #ask: () => void = () => undefined;
  readonly #held = new Promise<void>((resolve) => (this.#goOn = resolve));
  /** Settles when somebody has asked. */
  readonly asked = new Promise<void>((resolve) => (this.#ask = resolve));
  #answer: Promise<Answer> | undefined;

  constructor(readonly real: (...asked: Asked) => Promise<Answer>) {}

  readonly ask = (...asked: Asked): Promise<Answer> => {
    this.#ask();
    return (this.#answer ??= this.#held.then(() => this.real(...asked)));
  };

  /** Resolves after those who asked have the answer. */
  async goOn(): Promise<void> {
    this.#goOn();
    await this.#answer;
    await setImmediate();
  }
}

describe('transactions that are tracked over mempool’s WebSocket', () => {
  let pushing: PushingNode;
  let served: ServedNode;
  let faucet: Faucet;

  withPushingNode((opened) => {
    pushing = opened;
    ({ served, faucet } = opened);
  });

  const client = (): Promise<PushClient> => pushing.client();
  const esplora = (path: string): Promise<unknown> => pushing.esplora(path);

  /** Two transactions that spend the same coin of a wallet, which is in a block. */
  const rivals = async (): Promise<{ readonly wallet: KeyWallet; readonly one: SignedSpend; readonly two: SignedSpend }> => {
    const wallet = new KeyWallet();
    const paid = await faucet.pays(wallet.address, PAID);
    await mine(served.node, 1);
    const hex = await pushing.text(`/tx/${paid}/hex`);
    const spend = (value: number): SignedSpend => wallet.sends(hex, PAID, wallet.address, value);
    return { wallet, one: spend(20_000), two: spend(30_000) };
  };

  it('tells that a transaction enters the pool, is spent there, and is confirmed', async () => {
    const { node } = served;
    const wallet = new KeyWallet();
    const own = await client();
    expect(await own.ask({ 'track-tx': 'ab'.repeat(32), 'watch-mempool': true })).to.deep.equal([]);
    const txid = await faucet.pays(wallet.address, PAID);
    const [{ tx } = {}] = await own.ask({ 'track-tx': txid.toUpperCase() });
    expect(tx).to.deep.equal(await esplora(`/tx/${txid}`));
    const spend = wallet.sends(await pushing.text(`/tx/${txid}/hex`), PAID, wallet.address, 20_000);
    const { body } = await ask(served.port, { method: 'POST', path: '/api/tx', body: Buffer.from(spend.hex) });
    expect(body.toString()).to.equal(spend.txid);
    expect(await own.next('utxoSpent')).to.deep.equal({ 0: { vin: 0, txid: spend.txid } });
    // It is where it was.
    expect(own.told.some((told) => 'tx' in told)).to.equal(false);
    await mine(node, 1);
    expect(await own.next('txConfirmed')).to.equal(txid);
    const late = await client();
    expect(await late.ask({ 'track-tx': txid })).to.deep.equal([{ txConfirmed: txid }]);
    await own.ask({ 'track-tx': 'stop' });
    await late.ask({ 'track-tx': 'stop' });
    expect(served.wallets.push.tracked).to.equal(0);
  });

  describe('while the JSON of a transaction is being made', () => {
    /** Tracks a transaction. A block confirms it before its JSON is there, and the round ends after that. */
    const confirmedMeanwhile = async (own: PushClient, request: (txid: string) => object): Promise<string> => {
      const { transactions, projections } = served.answers;
      const txid = await faucet.pays(new KeyWallet().address, PAID);
      await served.settle();
      const json = new Held(transactions.unconfirmed.bind(transactions));
      const project = projections.get.bind(projections);
      const blocks = new Held(async () => project());
      transactions.unconfirmed = json.ask;
      own.send(request(txid));
      await json.asked;
      projections.get = blocks.ask;
      await mine(served.node, 1);
      await blocks.asked;
      transactions.unconfirmed = json.real;
      await json.goOn();
      projections.get = project;
      await blocks.goOn();
      return txid;
    };

    it('its confirmation is kept until after the answer', async () => {
      const own = await client();
      const txid = await confirmedMeanwhile(own, (asked) => ({ 'track-tx': asked }));
      expect(await own.next('tx')).to.include({ txid });
      expect(await own.next('txConfirmed')).to.equal(txid);
    });

    it('its confirmation is what is told of it among many', async () => {
      const own = await client();
      const txid = await confirmedMeanwhile(own, (asked) => ({ 'track-txs': [asked] }));
      expect(await own.next('tracked-txs')).to.deep.nested.include({ [`${txid}.confirmed`]: true });
    });
  });

  it('does not tell a second time that one is confirmed which was tracked before anybody was told of its block', async function () {
    needsNode(this, 'a reader does not have the lock of the node');
    const { node } = served;
    const [own, other] = [await client(), await client()];
    await other.ask({ 'track-tx': 'ab'.repeat(32), action: 'want', data: ['blocks'] });
    const txid = await faucet.pays(new KeyWallet().address, PAID);
    const added = node.chain.add(await blockWith(node, [await pushing.transaction(txid)]));
    // Asked for before the pass that tells of the block.
    const locked = node.chain.locker.lock();
    await added;
    const unlock = await locked;
    await served.settle();
    expect(await own.ask({ 'track-tx': txid })).to.deep.equal([{ txConfirmed: txid }]);
    unlock();
    await other.next('block');
    own.send({ action: 'ping' });
    await own.next('pong');
    expect(own.told).to.deep.equal([]);
  });

  it('tells that a transaction is confirmed that the pool never had', async () => {
    const { node } = served;
    const wallet = new KeyWallet();
    const paid = await faucet.pays(wallet.address, PAID);
    await mine(node, 1);
    const { txid, transaction } = wallet.sends(await pushing.text(`/tx/${paid}/hex`), PAID, wallet.address, 20_000);
    const own = await client();
    expect(await own.ask({ 'track-tx': txid })).to.deep.equal([]);
    await mineOnly(node, [transaction]);
    expect(await own.next('txConfirmed')).to.equal(txid);
  });

  it('tells that a transaction goes back into the pool with its block, and is confirmed again', async () => {
    const { node } = served;
    const own = await client();
    const txid = await faucet.pays(new KeyWallet().address, PAID);
    await own.ask({ 'track-tx': txid });
    await mine(node, 1);
    expect(await own.next('txConfirmed')).to.equal(txid);
    const fork = await node.chain.getEntryByHeight(node.chain.height - 1);
    // bcoin's pool takes transactions back only if it is not empty.
    await faucet.pays(new KeyWallet().address, PAID);
    own.told.length = 0;
    const side = await mineOnly(node, [], fork ?? undefined);
    await mineOnly(node, [], side);
    expect(await own.next('tx')).to.deep.equal(await esplora(`/tx/${txid}`));
    await mine(node, 1);
    expect(await own.next('txConfirmed')).to.equal(txid);
  });

  it('takes memory for each transaction that a client tracks, and gives it back', async () => {
    const own = await client();
    const [a, b, c] = ['aa', 'bb', 'cc'].map((byte) => byte.repeat(32));
    for (const [request, count] of [
      [{ 'track-txs': [a, b] }, 2],
      [{ 'track-txs': [b, c, b] }, 2],
      [{ 'track-tx': a }, 3],
      [{ 'track-tx': b }, 3],
      [{ 'track-tx': 'stop' }, 2],
      [{ 'track-txs': [] }, 0]
    ] as const) {
      expect(await own.ask(request)).to.deep.equal([]);
      expect(served.wallets.subscriptions.count, JSON.stringify(request)).to.equal(count);
    }
  });

  it('goes on telling of a transaction that was tracked in two ways, in the one that is left', async () => {
    const txid = await faucet.pays(new KeyWallet().address, PAID);
    const [single, many] = [await client(), await client()];
    for (const each of [single, many]) await each.ask({ 'track-tx': txid, 'track-txs': [txid] });
    expect(await single.ask({ 'track-txs': [] })).to.deep.equal([]);
    await many.ask({ 'track-tx': 'stop' });
    await mine(served.node, 1);
    expect(await single.next('txConfirmed')).to.equal(txid);
    expect(await many.next('tracked-txs')).to.deep.equal({ [txid]: { confirmed: true } });
  });

  it('does not tell the place of a transaction again that has stayed where it is', async () => {
    const own = await client();
    const txid = await faucet.pays(new KeyWallet().address, PAID);
    await served.node.rpc.execute({ method: 'prioritisetransaction', params: [txid, 0, 1_000_000] });
    const want = { action: 'want', data: ['mempool-blocks'] };
    const told = await own.ask({ ...want, 'track-tx': txid, 'track-txs': [txid] });
    expect(told[0]).to.include.keys('txPosition', 'tracked-txs');
    await faucet.pays(new KeyWallet().address, PAID);
    let blocks: readonly { readonly nTx: number }[] = [];
    while (blocks[0]?.nTx !== 2) blocks = (await own.next('mempool-blocks')) as typeof blocks;
    expect(own.told.filter((one) => 'txPosition' in one || 'tracked-txs' in one)).to.deep.equal([]);
    await mine(served.node, 1);
  });

  it('tells several clients of a transaction, and goes on when one of them stops', async () => {
    const txid = await faucet.pays(new KeyWallet().address, PAID);
    const [one, other] = [await client(), await client()];
    for (const each of [one, other]) expect((await each.ask({ 'track-tx': txid }))[0]).to.have.property('tx');
    expect(served.wallets.push.tracked).to.equal(1);
    // What is false asks for nothing.
    for (const nothing of ['', 0, false, null]) await one.ask({ 'track-tx': nothing, 'track-txs': nothing, 'track-address': nothing });
    await other.ask({ 'track-tx': 'stop' });
    await mine(served.node, 1);
    expect(await one.next('txConfirmed')).to.equal(txid);
    expect(await other.ask()).to.deep.equal([]);
  });

  it('tells that a transaction is in the pool again, which a reset has emptied', async function () {
    needsNode(this, 'a reader hears of chain and pool separately');
    const { node } = served;
    const own = await client();
    const txid = await faucet.pays(new KeyWallet().address, PAID);
    const transaction = await pushing.transaction(txid);
    await mineOnly(node, []);
    await own.ask({ 'track-tx': txid, action: 'want', data: ['blocks'] });
    // Without connections bcoin 1.0.2 does not tell its pool of a reset.
    await node.connect();
    await node.chain.reset(node.chain.height - 1);
    // Told after what became of the transaction.
    await own.next('blocks');
    await node.mempool.addTX(transaction);
    expect(await own.next('tx')).to.include({ txid });
    await mineOnly(node, [transaction]);
  });

  it('tells of no spender that has left the pool before anybody could be told', async function () {
    needsNode(this, 'a reader does not have the lock of the node');
    const { node } = served;
    const wallet = new KeyWallet();
    const txid = await faucet.pays(wallet.address, PAID);
    const own = await client();
    await own.ask({ 'track-tx': txid });
    const { transaction } = wallet.sends(await pushing.text(`/tx/${txid}/hex`), PAID, wallet.address, 20_000);
    const added = node.mempool.addTX(transaction);
    // Asked for before the pass that tells of it.
    const evicted = served.answers.node.withChainLock(() => {
      const entry = [...node.mempool.map.values()].find(({ tx }) => tx.hash().equals(transaction.hash()));
      node.mempool.evictEntry(entry ?? expect.fail('the entry'));
    });
    await Promise.all([added, evicted]);
    await served.settle();
    await mine(node, 1);
    expect(await own.next('txConfirmed')).to.equal(txid);
    expect(own.told.some((told) => 'utxoSpent' in told)).to.equal(false);
  });

  it('tells which transaction of another branch has what one spent that the pool does not take back', async () => {
    const { node } = served;
    const { one, two } = await rivals();
    const own = await client();
    await node.mempool.addTX(one.transaction);
    await own.ask({ 'track-tx': one.txid });
    await mine(node, 1);
    expect(await own.next('txConfirmed')).to.equal(one.txid);
    // bcoin's pool is empty: nothing goes back to it, and so nothing in it is replaced.
    const fork = await node.chain.getEntryByHeight(node.chain.height - 1);
    const side = await mineOnly(node, [two.transaction], fork ?? undefined);
    await mineOnly(node, [], side);
    expect(await own.next('rbfTransaction')).to.deep.equal({ txid: two.txid });
  });

  it('tells nothing of what another branch has in the place of one if that is too far away to be found', async () => {
    const { node, answers, log } = served;
    const { one, two } = await rivals();
    const own = await client();
    await node.mempool.addTX(one.transaction);
    await own.ask({ 'track-tx': one.txid, action: 'want', data: ['blocks'] });
    await mine(node, 1);
    expect(await own.next('txConfirmed')).to.equal(one.txid);
    const { spends } = answers;
    const find = spends.of.bind(spends);
    // As in a history of a million transactions.
    spends.of = () => Promise.reject(HistoryTooLongError.beyond(1));
    const fork = await node.chain.getEntryByHeight(node.chain.height - 1);
    const side = await mineOnly(node, [two.transaction], fork ?? undefined);
    await mineOnly(node, [], side);
    await own.next('blocks');
    await own.next('block');
    await served.settle();
    spends.of = find;
    own.send({ action: 'ping' });
    await own.next('pong');
    expect(own.told.some((told) => 'rbfTransaction' in told)).to.equal(false);
    expect(log.lines.filter((line) => line.includes('Clients were not told'))).to.deep.equal([]);
  });

  it('tells which transaction of the chain replaced one of the pool', async () => {
    const { node } = served;
    const { wallet, one, two } = await rivals();
    const own = await client();
    await own.ask({ 'track-tx': one.txid, 'track-address': wallet.address, action: 'want', data: ['blocks'] });
    await mine(node, 1);
    await own.next('block');
    await node.mempool.addTX(one.transaction);
    expect(await own.next('tx')).to.include({ txid: one.txid });
    await mineOnly(node, [two.transaction]);
    // All of it in one message.
    await until(() => own.told.some((told) => 'block' in told));
    const news = own.told.find((told) => 'block' in told) ?? {};
    expect(news).to.have.keys('block', 'rbfTransaction', 'address-removed-transactions', 'block-transactions');
    expect(news['rbfTransaction']).to.deep.equal({ txid: two.txid });
    expect(txidsOf(news['address-removed-transactions'])).to.deep.equal([one.txid]);
    expect(txidsOf(news['block-transactions'])).to.deep.equal([two.txid]);
  });

  it('tells the place of a transaction again when a relative enters the pool, and makes it once for all clients', async () => {
    const wallet = new KeyWallet();
    const txid = await faucet.pays(wallet.address, PAID);
    const both = [await client(), await client()];
    for (const one of both) await one.ask({ 'track-tx': txid });
    const { projections } = served.answers;
    const get = projections.get.bind(projections);
    let asked = 0;
    projections.get = async () => {
      const projection = await get();
      const find = (wanted: Buffer): ReturnType<typeof projection.find> => {
        const found = projection.find(wanted);
        // Asked for once for each transaction of a cluster whose JSON is made.
        if (found?.chunk.cluster.nodes.length === 2 && toDisplayHex(wanted) !== txid) asked++;
        return found;
      };
      return { ...projection, find };
    };
    const child = wallet.sends(await pushing.text(`/tx/${txid}/hex`), PAID, wallet.address, 20_000);
    await served.node.mempool.addTX(child.transaction);
    for (const one of both) {
      const { cpfp } = (await one.next('txPosition')) as { cpfp: { cluster: { txs: { txid: string }[] } } };
      expect(txidsOf(cpfp.cluster.txs)).to.deep.equal([txid, child.txid]);
    }
    projections.get = get;
    expect(asked).to.equal(1);
  });

  it('tells the place of a transaction again that is tracked by itself again', async () => {
    const own = await client();
    const txid = await faucet.pays(new KeyWallet().address, PAID);
    await own.ask({ 'track-txs': [txid] });
    const track = async (): Promise<unknown> => (await own.ask({ 'track-tx': txid }))[0]?.['txPosition'];
    const place = await track();
    expect(place).to.include({ txid });
    await own.ask({ 'track-tx': 'stop' });
    expect(await track()).to.deep.equal(place);
  });
});
