import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { BehaviorSubject } from 'rxjs';
import { WebSocket } from 'ws';
import { SUBSCRIPTION_BYTES, SubscriptionMemory } from '../../lib/server/bounds/subscription-memory';
import { MemoryStore } from '../../lib/store/memory-store';
import { bcoin, type HostFullBlock } from '../support/bcoin';
import { Faucet, scriptAt } from '../support/faucet';
import { needsNode } from '../support/fleet';
import { holdReads } from '../support/held-reads';
import { ask, basicAuth } from '../support/http';
import { KeyWallet } from '../support/key-wallet';
import { PushClient, refusedWith } from '../support/push-client';
import { entryOf, mine, mineOnly } from '../support/regtest-node';
import { openRestNode } from '../support/rest-node';
import { gatedBy, ServedNode } from '../support/served-node';
import { until } from '../support/until';
import type { Subscription } from 'rxjs';

const { segwit } = bcoin.Network.get('regtest').deployments;
const { threshold: THRESHOLD, window: WINDOW } = segwit;

/** Witnesses are accepted after three of these windows: before the faucet's coins are mature. */
const SHORT_WINDOW = 30;

const PAID = 50_000;
const TIMEOUT_MS = 60_000;

interface ToldTransaction {
  readonly txid: string;
  readonly status: { readonly confirmed: boolean; readonly block_height?: number };
}
interface ToldBlock {
  readonly id: string;
  readonly height: number;
}

const txidsOf = (told: unknown): string[] => (told as ToldTransaction[]).map(({ txid }) => txid);
const heightsOf = (told: unknown): number[] => (told as ToldBlock[]).map(({ height }) => height);

/** A spelling of hexadecimal letters: which of them are capitals. */
const spelled = (letters: string, bits: number): string =>
  letters.replace(/./g, (letter, i: number) => ((bits >> i) & 1 ? letter.toUpperCase() : letter));

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

describe('mempool’s WebSocket', () => {
  let served: ServedNode;
  /** Whether clients may connect. */
  const ready$ = new BehaviorSubject(true);
  let faucet: Faucet;
  const clients: PushClient[] = [];

  before(async function () {
    this.timeout(TIMEOUT_MS);
    segwit.window = segwit.threshold = SHORT_WINDOW;
    const settings = { 'rest-max-history': 50, 'rest-electrum-subscriptions': 1_000, 'rest-timeout': 1 };
    served = await ServedNode.open({ settings }, gatedBy(ready$));
    faucet = await Faucet.on(served.node, 30);
  });
  after(async () => {
    await served.node.close();
    segwit.window = WINDOW;
    segwit.threshold = THRESHOLD;
  });
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.terminate();
    // Everything that a client tracks is forgotten when it leaves.
    await until(() => served.wallets.sessions.count === 0);
    expect(served.wallets.push.tracked).to.equal(0);
  });

  const client = async (): Promise<PushClient> => {
    const made = await PushClient.connect(served.port);
    clients.push(made);
    return made;
  };
  const esplora = async (path: string): Promise<unknown> =>
    JSON.parse((await ask(served.port, { path: `/api${path}` })).body.toString()) as unknown;

  const hashAt = async (height: number): Promise<string> =>
    (await ask(served.port, { path: `/api/block-height/${height}` })).body.toString();

  it('tells a new client the last blocks, the pool and recommended fees', async () => {
    const { node } = served;
    const [{ blocks, mempoolInfo, fees } = {}] = await (await client()).ask({ action: 'init' });
    const { height } = node.chain;
    expect(heightsOf(blocks)).to.deep.equal(Array.from({ length: 8 }, (_, i) => height - 7 + i));
    expect((blocks as unknown[]).toReversed()).to.deep.equal(((await esplora('/v1/blocks')) as unknown[]).slice(0, 8));
    expect(mempoolInfo).to.include({ size: 0 });
    expect(fees).to.deep.equal(await esplora('/v1/fees/precise'));
  });

  it('tells each new block until a client no longer wants that, and a reorganization with the blocks that are left', async () => {
    const { node } = served;
    const own = await client();
    const [{ blocks } = {}] = await own.ask({ action: 'want', data: ['blocks', 'mempool-blocks', 7] });
    expect(heightsOf(blocks).at(-1)).to.equal(node.chain.height);
    expect(await own.ask({ action: 'want', data: ['blocks'] })).to.deep.equal([]);
    await mine(node, 1);
    const told = (await own.next('block')) as ToldBlock;
    expect(told).to.deep.equal(await esplora(`/v1/block/${told.id}`));
    expect(told.height).to.equal(node.chain.height);
    const fork = await node.chain.getEntryByHeight(node.chain.height - 1);
    const [side] = await mine(node, 1, fork ?? undefined);
    await mine(node, 1, side && (await entryOf(node, side)));
    expect(heightsOf(await own.next('blocks')).at(-1)).to.equal(node.chain.height - 2);
    expect(await own.next('block')).to.include({ height: node.chain.height - 1 });
    expect(await own.next('block')).to.include({ height: node.chain.height });
    await own.ask({ action: 'want', data: [] });
    const other = await client();
    await other.ask({ action: 'want', data: ['blocks'] });
    await mine(node, 1);
    await other.next('block');
    expect(await own.ask()).to.deep.equal([]);
  });

  it('tells only the last blocks if many come at once', async () => {
    const { node } = served;
    await mine(node, 9);
    const own = await client();
    await own.ask({ action: 'want', data: ['blocks'] });
    const fork = await node.chain.getEntryByHeight(node.chain.height - 9);
    const side = (await mine(node, 9, fork ?? undefined)).at(-1);
    await mine(node, 1, side && (await entryOf(node, side)));
    expect(heightsOf(await own.next('blocks'))).to.deep.equal(Array.from({ length: 8 }, (_, i) => node.chain.height - 7 + i));
    expect(await own.ask()).to.deep.equal([]);
  });

  it('tells a block that comes during the first answer after that answer', async () => {
    const { node } = served;
    // There were no listeners, so the sizes of these blocks have to be read.
    await mine(node, 8);
    const block = (await node.miner.cpu.mineBlock(node.chain.tip)) as HostFullBlock; // nobody stops the miner
    const { source } = served;
    const read = source.rawBlock.bind(source);
    let isAsked = false;
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    source.rawBlock = async (of) => {
      isAsked = true;
      if (!of.equals(block.hash())) await held;
      return read(of);
    };
    const own = await client();
    own.send({ action: 'want', data: ['blocks'] });
    await until(() => isAsked);
    await node.chain.add(block);
    await served.settle();
    goOn();
    await until(() => own.told.length === 2);
    source.rawBlock = read;
    const [first, second] = own.told;
    expect(heightsOf(first?.['blocks']).at(-1)).to.equal(node.chain.height - 1);
    expect(second?.['block']).to.include({ height: node.chain.height });
  });

  it('does not tell a client the block with which it began, even if others are still to be told', async function () {
    needsNode(this, "a reader's lock cannot be held from outside");
    const { node } = served;
    const [before, own] = [await client(), await client()];
    await before.ask({ action: 'want', data: ['blocks'] });
    const block = (await node.miner.cpu.mineBlock(node.chain.tip)) as HostFullBlock; // as above
    const added = node.chain.add(block);
    const unlock = await node.chain.locker.lock();
    await added;
    const [{ blocks } = {}] = await own.ask({ action: 'want', data: ['blocks'] });
    expect(heightsOf(blocks).at(-1)).to.equal(node.chain.height);
    expect(before.told).to.deep.equal([]);
    unlock();
    expect(await before.next('block')).to.include({ height: node.chain.height });
    await mine(node, 1);
    expect(await own.next('block')).to.include({ height: node.chain.height });
  });

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

  it('tells news of several addresses, keys and scripts, each under one name, in lower case', async () => {
    const { node } = served;
    const [first, second] = [new KeyWallet().address, new KeyWallet().address];
    const script = scriptAt(second).toString('hex');
    const [own, stranger] = [await client(), await client()];
    await own.ask({ 'track-addresses': [first.toUpperCase(), first], 'track-scriptpubkeys': [script.toUpperCase()] });
    await stranger.ask({ 'track-addresses': [new KeyWallet().address] });
    const txid = await faucet.pays(first, PAID);
    const multi = (await own.next('multi-address-transactions')) as Record<string, Record<string, ToldTransaction[]>>;
    expect(Object.keys(multi)).to.deep.equal([first]);
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
    let [from, value] = [(await ask(served.port, { path: `/api/tx/${paid}/hex` })).body.toString(), PAID];
    /** Mines a block with a transaction of the script that was not in the pool. */
    const mineNext = async (): Promise<string> => {
      const { txid, hex } = wallet.sends(from, value, wallet.address, value - 11_000);
      [from, value] = [hex, value - 11_000];
      await mineOnly(node, [bcoin.TX.fromRaw(Buffer.from(hex, 'hex'))]);
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

  it('tells that a transaction enters the pool, is spent there, and is confirmed', async () => {
    const { node } = served;
    const wallet = new KeyWallet();
    const own = await client();
    expect(await own.ask({ 'track-tx': 'ab'.repeat(32), 'watch-mempool': true })).to.deep.equal([]);
    const txid = await faucet.pays(wallet.address, PAID);
    const [{ tx } = {}] = await own.ask({ 'track-tx': txid.toUpperCase() });
    expect(tx).to.deep.equal(await esplora(`/tx/${txid}`));
    const spend = wallet.sends((await ask(served.port, { path: `/api/tx/${txid}/hex` })).body.toString(), PAID, wallet.address, 20_000);
    const { body } = await ask(served.port, { method: 'POST', path: '/api/tx', body: Buffer.from(spend.hex) });
    expect(body.toString()).to.equal(spend.txid);
    expect(await own.next('utxoSpent')).to.deep.equal({ 0: { vin: 0, txid: spend.txid } });
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

  it('tells that a transaction is confirmed that the pool never had', async () => {
    const { node } = served;
    const wallet = new KeyWallet();
    const paid = await faucet.pays(wallet.address, PAID);
    await mine(node, 1);
    const { txid, hex } = wallet.sends(
      (await ask(served.port, { path: `/api/tx/${paid}/hex` })).body.toString(),
      PAID,
      wallet.address,
      20_000
    );
    const own = await client();
    expect(await own.ask({ 'track-tx': txid })).to.deep.equal([]);
    await mineOnly(node, [bcoin.TX.fromRaw(Buffer.from(hex, 'hex'))]);
    expect(await own.next('txConfirmed')).to.equal(txid);
  });

  it('tells which transaction of the chain replaced one of the pool', async () => {
    const { node } = served;
    const wallet = new KeyWallet();
    const paid = await faucet.pays(wallet.address, PAID);
    await mine(node, 1);
    const hex = (await ask(served.port, { path: `/api/tx/${paid}/hex` })).body.toString();
    const [one, two] = [20_000, 30_000].map((value) => wallet.sends(hex, PAID, wallet.address, value));
    const own = await client();
    await own.ask({ 'track-tx': one?.txid, 'track-address': wallet.address, action: 'want', data: ['blocks'] });
    await mine(node, 1);
    await own.next('block');
    await node.mempool.addTX(bcoin.TX.fromRaw(Buffer.from(one?.hex ?? '', 'hex')));
    expect(await own.next('tx')).to.include({ txid: one?.txid });
    await mineOnly(node, [bcoin.TX.fromRaw(Buffer.from(two?.hex ?? '', 'hex'))]);
    // All of it in one message.
    await until(() => own.told.some((told) => 'block' in told));
    const news = own.told.find((told) => 'block' in told) ?? {};
    expect(news).to.have.keys('block', 'rbfTransaction', 'address-removed-transactions', 'block-transactions');
    expect(news['rbfTransaction']).to.deep.equal({ txid: two?.txid });
    expect(txidsOf(news['address-removed-transactions'])).to.deep.equal([one?.txid]);
    expect(txidsOf(news['block-transactions'])).to.deep.equal([two?.txid]);
  });

  it('tells pool and recommended fees to clients that want statistics', async () => {
    const own = await client();
    const [stats] = await own.ask({ action: 'want', data: ['stats'] });
    expect(stats).to.have.keys('mempoolInfo', 'vBytesPerSecond', 'fees', 'transactions', 'da');
    const { size } = stats?.['mempoolInfo'] as { size: number };
    await faucet.pays(new KeyWallet().address, PAID);
    expect(await own.next('mempoolInfo')).to.have.property('size', size + 1);
  });

  it('closes on a message that is not an object, and ignores unknown fields', async () => {
    for (const text of ['{', 'null', '5', '"x"', '']) {
      const own = await client();
      own.socket.send(text);
      expect(await own.closed(), text).to.equal(1001);
    }
    const own = await client();
    expect(
      await own.ask(
        [],
        {},
        { action: 'fly' },
        { 'track-wallet': 'all' },
        { 'track-mempool-block': 'x' },
        { 'track-tx': 5 },
        { action: 'want' }
      )
    ).to.deep.equal([]);
  });

  it('says which address it cannot read, and tracks the others', async () => {
    const { address } = new KeyWallet();
    const own = await client();
    expect(await own.ask({ 'track-address': 'nonsense' })).to.deep.equal([{ 'track-address-error': 'cannot be read: nonsense' }]);
    expect(await own.ask({ 'track-addresses': [{}, address] })).to.deep.equal([{ 'track-addresses-error': 'cannot be read: {}' }]);
    expect(await own.ask({ 'track-scriptpubkeys': ['abc'] })).to.deep.equal([{ 'track-scriptpubkeys-error': 'cannot be read: abc' }]);
    expect(served.wallets.push.tracked).to.equal(1);
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
    own.socket.send(`{"track-addresses":[${'['.repeat(200_000)}${']'.repeat(200_000)}]}`);
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
    const [{ vout: [{ scriptpubkey = '' } = {}] = [] } = {}] = (await esplora(`/block/${await hashAt(5)}/txs`)) as {
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
    expect(own.wallets.push.tracked).to.equal(3);
    expect(await one.ask({ 'track-scriptpubkeys': [] })).to.deep.equal([]);
    expect(await one.ask({ 'track-txs': ['ab'.repeat(32)] })).to.deep.equal([]);
    await own.node.close();
  });

  it('accepts pages of its own origin', async () => {
    const own = await PushClient.connect(served.port, { Origin: `http://127.0.0.1:${served.port}` });
    clients.push(own, await PushClient.connect(served.port, { Host: 'node.example', Origin: 'https://Node.Example' }));
    expect(await own.ask()).to.deep.equal([]);
  });

  it('ends a connection whose message is longer than a megabyte', async () => {
    const own = await client();
    own.socket.send(Buffer.alloc(1_000_001, ' '));
    expect(await own.closed()).to.equal(1009);
  });

  it('cuts off a client that never reads, and does not answer it meanwhile', async () => {
    const own = await client();
    own.socket.pause();
    for (let i = 0; i < 10_000; i++) own.socket.send('{"action":"init"}');
    const other = await client();
    expect(await other.ask({ action: 'init' })).to.have.length(1);
    other.socket.terminate();
    await until(() => served.wallets.sessions.count === 0);
    own.socket.resume();
    await own.closed();
    expect(own.told.length).to.be.lessThan(10_000);
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

  it('tolerates connections that break at any moment, and forgets them', async () => {
    const { address } = new KeyWallet();
    for (let i = 0; i < 20; i++) {
      const own = await PushClient.connect(served.port);
      own.send({ 'track-address': address, 'track-tx': 'cd'.repeat(32), action: 'want', data: ['blocks', 'stats'] });
      if (i % 2 === 0) await own.ask();
      own.socket.terminate();
    }
    const half = connect(served.port, '127.0.0.1');
    half.write('GET /api/v1/ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n');
    await once(half, 'connect');
    half.destroy();
    await until(() => served.wallets.sessions.count === 0);
    expect(served.wallets.push.tracked).to.equal(0);
    expect(await (await client()).ask({ action: 'init' })).to.have.length(1);
  });

  it('is refused with 503 while nothing can be answered, and with 403 to pages of other origins', async () => {
    const url = `ws://127.0.0.1:${served.port}/api/v1/ws`;
    ready$.next(false);
    expect(await refusedWith(url)).to.equal(503);
    ready$.next(true);
    expect(await refusedWith(url, { Origin: 'https://elsewhere.example' })).to.equal(403);
    expect(await refusedWith(url, { Origin: 'http://127.0.0.1:1' })).to.equal(403);
    expect(await refusedWith(url, { Origin: 'null' })).to.equal(403);
    const { status, headers } = await ask(served.port, { path: '/api/v1/ws' });
    expect([status, headers['upgrade']]).to.deep.equal([426, 'websocket']);
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

describe('a node with mempool’s WebSocket', () => {
  it('limits the number of clients, requires its key, and closes with clients connected', async () => {
    const key = 'a key of the node';
    const settings = { 'rest-addresses': true, 'rest-auth': true, 'api-key': key, 'rest-electrum-sessions': 1 };
    const served = await openRestNode({ settings });
    const url = `ws://127.0.0.1:${served.port}/api/v1/ws`;
    await until(async () => (await ask(served.port, { path: '/api/blocks/tip/height', headers: basic(key) })).status === 200);
    expect(await refusedWith(url)).to.equal(401);
    const client = await PushClient.connect(served.port, basic(key));
    await client.ask({ 'track-address': new KeyWallet().address, action: 'want', data: ['blocks', 'stats'] });
    expect(await refusedWith(url, basic(key))).to.equal(503);
    const closed = client.closed();
    await served.node.close();
    expect(await closed).to.equal(1001);
  });

  it('serves it under the path of the interface, wherever that is', async () => {
    const served = await openRestNode({ settings: { 'rest-addresses': true, 'rest-addresses-path': '/esplora' } });
    await until(async () => (await ask(served.port, { path: '/esplora/blocks/tip/height' })).status === 200);
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}/esplora/v1/ws`);
    await once(socket, 'open');
    socket.terminate();
    expect((await ask(served.port, { path: '/api/v1/ws' })).status).to.equal(404);
    await served.node.close();
  });

  it('has none without addresses', async () => {
    const served = await openRestNode();
    expect((await ask(served.port, { path: '/api/v1/ws' })).status).to.equal(404);
    await served.node.close();
  });
});

const basic = (key: string): Record<string, string> => ({ Authorization: basicAuth(`x:${key}`) });
