import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { SUBSCRIPTION_BYTES, SubscriptionMemory } from '../../lib/server/bounds/subscription-memory';
import { MemoryStore } from '../../lib/store/memory-store';
import { Faucet, scriptAt } from '../support/chain/faucet';
import { holdReads } from '../support/index/held-reads';
import { KeyWallet } from '../support/chain/key-wallet';
import { PushClient } from '../support/client/push-client';
import { type PushingNode, type ToldTransaction, txidsOf, withPushingNode } from './pushing-node';
import { entryOf, mine, mineOnly } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import type { Subscription } from 'rxjs';

const PAID = 50_000;
const TIMEOUT_MS = 60_000;

/** A spelling of hexadecimal letters: which of them are capitals. */
const spelled = (letters: string, bits: number): string =>
  letters.replace(/./g, (letter, i: number) => ((bits >> i) & 1 ? letter.toUpperCase() : letter));

describe('scripts that are tracked over mempool’s WebSocket', () => {
  let pushing: PushingNode;
  let served: ServedNode;
  let faucet: Faucet;

  withPushingNode((opened) => {
    pushing = opened;
    ({ served, faucet } = opened);
  });

  const client = (): Promise<PushClient> => pushing.client();
  const esplora = (path: string): Promise<unknown> => pushing.esplora(path);

  it('tells which transactions of an address enter the pool, are confirmed, and go back', async () => {
    const { node } = served;
    const { address } = new KeyWallet();
    const own = await client();
    expect(await own.ask({ 'track-address': address })).to.deep.equal([]);
    const txid = await faucet.pays(address, PAID);
    const [pooled] = (await own.next('address-transactions')) as ToldTransaction[];
    expect(pooled).to.deep.equal(await esplora(`/tx/${txid}`));
    await mine(node, 1);
    const [confirmed] = (await own.next('block-transactions')) as ToldTransaction[];
    expect(confirmed).to.deep.equal(await esplora(`/tx/${txid}`));
    expect(confirmed?.status.block_height).to.equal(node.chain.height);
    // The block is disconnected: bcoin's pool takes the transaction back only if it is not empty.
    const fork = await node.chain.getEntryByHeight(node.chain.height - 1);
    const [side] = await mine(node, 1, fork ?? undefined);
    await faucet.pays(new KeyWallet().address, PAID);
    await mine(node, 1, side && (await entryOf(node, side)));
    expect(txidsOf(await own.next('address-transactions'))).to.deep.equal([txid]);
    expect(await own.ask({ 'track-address': 'stop' })).to.deep.equal([]);
    expect(served.wallets.push.tracked).to.equal(0);
  });

  it('tells news of several addresses under the names that the client gave, and of scripts in lower case', async () => {
    const { node } = served;
    const [first, second] = [new KeyWallet().address, new KeyWallet().address];
    const script = scriptAt(second).toString('hex');
    const [own, stranger] = [await client(), await client()];
    await own.ask({ 'track-addresses': [first.toUpperCase(), first], 'track-scriptpubkeys': [script.toUpperCase()] });
    await stranger.ask({ 'track-addresses': [new KeyWallet().address] });
    const txid = await faucet.pays(first, PAID);
    const multi = (await own.next('multi-address-transactions')) as Record<string, Record<string, ToldTransaction[]>>;
    expect(Object.keys(multi)).to.deep.equal([first.toUpperCase(), first]);
    expect(multi[first.toUpperCase()]).to.deep.equal(multi[first]);
    expect([txidsOf(multi[first]?.['mempool']), multi[first]?.['confirmed'], multi[first]?.['removed']]).to.deep.equal([[txid], [], []]);
    const other = await faucet.pays(second, PAID);
    const scripts = (await own.next('multi-scriptpubkey-transactions')) as Record<string, Record<string, ToldTransaction[]>>;
    expect([Object.keys(scripts), txidsOf(scripts[script]?.['mempool'])]).to.deep.equal([[script], [other]]);
    await mine(node, 1);
    const confirmed = (await own.next('multi-address-transactions')) as Record<string, Record<string, ToldTransaction[]>>;
    expect([confirmed[first]?.['mempool'], txidsOf(confirmed[first]?.['confirmed'])]).to.deep.equal([[], [txid]]);
    expect(await stranger.ask()).to.deep.equal([]);
    // A list is replaced as a whole.
    await own.ask({ 'track-addresses': [], 'track-scriptpubkeys': [] });
    await stranger.ask({ 'track-addresses': [] });
    expect(served.wallets.push.tracked).to.equal(0);
  });

  it('needs no status of a script that it tracks, and shares it with those who do', async () => {
    const { node, scripts } = served;
    const { access, statuses } = served.wallets;
    const wallet = new KeyWallet();
    const script = scriptAt(wallet.address);
    const paid = await faucet.pays(wallet.address, PAID);
    await mine(node, 1);
    const own = await client();
    await own.ask({ 'track-address': wallet.address });
    expect(statuses.size).to.equal(0);
    const blocks: unknown[] = [];
    const watching = scripts.watched.changes$.subscribe(({ type }) => blocks.push(type));
    let [from, value] = [await pushing.text(`/tx/${paid}/hex`), PAID];
    /** Mines a block with a transaction of the script that was not in the pool. */
    const mineNext = async (): Promise<string> => {
      const { txid, hex, transaction } = wallet.sends(from, value, wallet.address, value - 11_000);
      [from, value] = [hex, value - 11_000];
      await mineOnly(node, [transaction]);
      return txid;
    };

    const alone = await mineNext();
    expect(txidsOf(await own.next('block-transactions'))).to.deep.equal([alone]);

    let changes = 0;
    const subscribe = async (): Promise<Subscription> => {
      const subscription = access.subscribe$(script).subscribe(() => changes++);
      await until(() => changes === 1);
      return subscription;
    };
    (await subscribe()).unsubscribe();
    expect(statuses.size).to.equal(0);
    const after = await mineNext();
    expect(txidsOf(await own.next('block-transactions'))).to.deep.equal([after]);

    changes = 0;
    const subscription = await subscribe();
    await own.ask({ 'track-address': 'stop' });
    await mineNext();
    await until(() => changes === 2);
    subscription.unsubscribe();
    expect(blocks.splice(0)).to.deep.equal(['connect', 'connect', 'connect']);
    // Nobody wants to know of the script any more.
    await mineNext();
    await until(() => scripts.state.phase === 'live' && scripts.state.height === node.chain.height);
    expect(blocks).to.deep.equal([]);
    watching.unsubscribe();
  });

  it('tells several clients news of a long list', async () => {
    const { node } = served;
    const { address } = new KeyWallet();
    const script = scriptAt(address).toString('hex');
    const all = [await client(), await client(), await client()] as const;
    const [one, many, scripts] = all;
    await one.ask({ 'track-address': address });
    await many.ask({ 'track-addresses': [address] });
    await scripts.ask({ 'track-scriptpubkeys': [script, script.toUpperCase()] });
    for (let i = 0; i < 6; i++) await faucet.pays(address, PAID);
    await until(() => all.every(({ told }) => JSON.stringify(told).split('"fee":').length > 6));
    for (const { told } of all) told.length = 0;
    await mine(node, 1);
    const confirmed = ((await esplora(`/address/${address}/txs/chain`)) as unknown[]).toReversed();
    expect(confirmed).to.have.length(6);
    expect(await one.next('block-transactions')).to.deep.equal(confirmed);
    const news = { mempool: [], confirmed, removed: [] };
    expect(await many.next('multi-address-transactions')).to.deep.equal({ [address]: news });
    expect(await scripts.next('multi-scriptpubkey-transactions')).to.deep.equal({ [script]: news });
  });

  it('says which address it cannot read, and tracks the others', async () => {
    const { address } = new KeyWallet();
    const own = await client();
    expect(await own.ask({ 'track-address': 'nonsense' })).to.deep.equal([{ 'track-address-error': 'cannot be read: nonsense' }]);
    expect(await own.ask({ 'track-addresses': [{}, address] })).to.deep.equal([{ 'track-addresses-error': 'cannot be read: {}' }]);
    for (const wrong of ['abc', ''])
      expect(await own.ask({ 'track-scriptpubkeys': [wrong, 'x'] })).to.deep.equal([
        { 'track-scriptpubkeys-error': `cannot be read: ${wrong}` }
      ]);
    expect(served.wallets.push.tracked).to.equal(1);
  });

  it('tracks the script of a public key, compressed or not', async () => {
    const own = await client();
    for (const [i, key] of [`02${'11'.repeat(32)}`, `03${'11'.repeat(32)}`, `04${'11'.repeat(64)}`].entries()) {
      expect(await own.ask({ 'track-addresses': [key] })).to.deep.equal([]);
      expect(await own.ask({ 'track-scriptpubkeys': [`${i < 2 ? '21' : '41'}${key}ac`] })).to.deep.equal([]);
      // The same script.
      expect(served.wallets.push.tracked).to.equal(1);
    }
  });

  it('reads no list of more than a hundred names, however few scripts they are', async () => {
    const own = await client();
    const script = `0014${'ab'.repeat(20)}`;
    const names = Array.from({ length: 101 }, (_, i) => script.slice(0, -7) + spelled(script.slice(-7), i));
    const fault = 'too many scriptpubkeys requested, this connection supports tracking a maximum of 100 scriptpubkeys';
    expect(await own.ask({ 'track-scriptpubkeys': names })).to.deep.equal([{ 'track-scriptpubkeys-error': fault }]);
    expect(await own.ask({ 'track-scriptpubkeys': names.slice(1) })).to.deep.equal([]);
    expect(served.wallets.push.tracked).to.equal(1);
  });

  it('says so if a name is nested deeper than it can be shown', async () => {
    const own = await client();
    const fault = 'cannot be read: a value that is nested too deep';
    own.socket.send(`{"track-addresses":[${'['.repeat(90_000)}${']'.repeat(90_000)}]}`);
    expect(await own.ask()).to.deep.equal([{ 'track-addresses-error': fault }]);
  });

  it('tracks lists of up to a hundred addresses, and none with too long a history', async () => {
    const scripts = Array.from({ length: 101 }, (_, i) => `51${i.toString(16).padStart(2, '0')}`);
    const own = await client();
    expect(await own.ask({ 'track-scriptpubkeys': scripts.slice(1) })).to.deep.equal([]);
    expect(served.wallets.push.tracked).to.equal(100);
    const fault = 'too many scriptpubkeys requested, this connection supports tracking a maximum of 100 scriptpubkeys';
    expect(await own.ask({ 'track-scriptpubkeys': scripts })).to.deep.equal([{ 'track-scriptpubkeys-error': fault }]);
    expect(served.wallets.push.tracked).to.equal(0);
    // The faucet's script has more transactions than are allowed.
    const [{ vout: [{ scriptpubkey = '' } = {}] = [] } = {}] = (await esplora(`/block/${await pushing.text('/block-height/5')}/txs`)) as {
      vout?: { scriptpubkey?: string }[];
    }[];
    expect(await own.ask({ 'track-scriptpubkeys': [scriptpubkey] })).to.deep.equal([{ 'track-scriptpubkeys-error': 'history too large' }]);
    expect(served.wallets.push.tracked).to.equal(0);
  });

  it('says so if all clients together track as many scripts as there is memory for', async () => {
    const own = await ServedNode.open({}, { subscriptions: new SubscriptionMemory(3 * SUBSCRIPTION_BYTES) });
    const [one, other] = [await PushClient.connect(own.port), await PushClient.connect(own.port)];
    expect(await one.ask({ 'track-scriptpubkeys': ['5101', '5102'] })).to.deep.equal([]);
    const fault = 'too many subscriptions of all clients';
    expect(await other.ask({ 'track-scriptpubkeys': ['5101', '5103'] })).to.deep.equal([{ 'track-scriptpubkeys-error': fault }]);
    expect(await one.ask({ 'track-scriptpubkeys': ['5102'] })).to.deep.equal([]);
    expect(await other.ask({ 'track-scriptpubkeys': ['5101', '5103'] })).to.deep.equal([]);
    // None of the transactions is tracked then.
    expect(await one.ask({ 'track-txs': ['ab'.repeat(32), 'cd'.repeat(32)] })).to.deep.equal([{ 'track-txs-error': fault }]);
    expect(await other.ask({ 'track-tx': 'ab'.repeat(32) })).to.deep.equal([{ 'track-tx-error': fault }]);
    expect(own.wallets.push.tracked).to.equal(3);
    expect(await one.ask({ 'track-scriptpubkeys': [] })).to.deep.equal([]);
    // Nor if there is memory for the first one.
    expect(await one.ask({ 'track-txs': ['ab'.repeat(32), 'cd'.repeat(32)] })).to.deep.equal([{ 'track-txs-error': fault }]);
    expect(own.wallets.push.tracked).to.equal(2);
    expect(await one.ask({ 'track-tx': 'ab'.repeat(32) })).to.deep.equal([]);
    expect(own.wallets.subscriptions.count).to.equal(3);
    expect(await one.ask({ 'track-tx': 'stop', 'track-txs': ['ab'.repeat(32)] })).to.deep.equal([]);
    await own.node.close();
  });
});

describe('a script whose history takes long to read, over mempool’s WebSocket', function () {
  this.timeout(TIMEOUT_MS);
  let served: ServedNode;
  let faucet: Faucet;
  let own: PushClient;
  const { address } = new KeyWallet();
  /** Lets the held read continue; undefined if none is held. */
  let goOn: (() => void) | undefined;
  let isHeld = false;

  before(async () => {
    const scriptStore = holdReads(new MemoryStore(), () => {
      if (!isHeld) return undefined;
      isHeld = false;
      return new Promise((resolve) => (goOn = resolve));
    });
    served = await ServedNode.open({}, { scriptStore });
    faucet = await Faucet.on(served.node, 5);
  });
  after(() => served.close());
  beforeEach(async () => {
    goOn = undefined;
    isHeld = true;
    own = await PushClient.connect(served.port);
    own.send({ 'track-address': address }, { action: 'ping' });
    await until(() => goOn !== undefined);
  });
  afterEach(async () => {
    own.socket.terminate();
    await until(() => served.wallets.sessions.count === 0);
    expect(served.wallets.push.tracked).to.equal(0);
  });

  it('is updated by what happened meanwhile, even if a pass came too early', async () => {
    const other = await PushClient.connect(served.port);
    await other.ask({ 'track-address': new KeyWallet().address });
    const txid = await faucet.pays(address, PAID);
    // A block, of which the other client gets to know by the same pass.
    await other.ask({ action: 'want', data: ['blocks'] });
    await mine(served.node, 1);
    await other.next('block');
    goOn?.();
    await own.next('pong');
    expect(txidsOf(await own.next('block-transactions'))).to.deep.equal([txid]);
    other.socket.terminate();
  });

  it('is no longer tracked when its client has gone meanwhile', async () => {
    own.socket.terminate();
    await until(() => served.wallets.sessions.count === 0);
    expect(served.wallets.push.tracked).to.equal(1);
    goOn?.();
    await until(() => served.wallets.push.tracked === 0);
  });
});
