import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin } from '../support/bcoin/bcoin';
import { scriptAt } from '../support/chain/faucet';
import { needsNode } from '../support/fleet/fleet';
import { KeyWallet } from '../support/chain/key-wallet';
import { madeTransaction } from '../support/chain/made-blocks';
import { type PushingNode, txidsOf, withPushingNode } from './pushing-node';
import { mine, mineOnly } from '../support/bcoin/regtest-node';
import { signed, type PaidOutput } from '../support/chain/signed';
import { until } from '../support/expectations/until';
import type { PushClient, Told } from '../support/client/push-client';
import type { ServedNode } from '../support/node/served-node';

const PAID = 50_000;

/** OP_1 */
const ANYBODY = Buffer.of(0x51);

/** More than one pass compares. */
const MANY = 70;

describe('what one block changes, over mempool’s WebSocket', () => {
  let pushing: PushingNode;
  let served: ServedNode;

  withPushingNode((opened) => {
    pushing = opened;
    ({ served } = opened);
  });

  const withBlock = async ({ told }: PushClient): Promise<Told> => {
    await until(() => told.some((one) => 'block' in one));
    return told.find((one) => 'block' in one) ?? {};
  };

  it('comes in one message, even if the pool is told while the block is being read', async () => {
    const { node, source } = served;
    const { projections } = served.answers;
    const { address } = new KeyWallet();
    const own = await pushing.client();
    const txid = await pushing.faucet.pays(address, PAID);
    await own.ask({ action: 'want', data: ['blocks', 'stats'], 'track-tx': txid, 'track-address': address });
    const [read, project] = [source.rawBlock.bind(source), projections.get.bind(projections)];
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    let projected = 0;
    source.rawBlock = async (hash) => {
      await held;
      return read(hash);
    };
    await mine(node, 1);
    projections.get = () => {
      projected++;
      return project();
    };
    // As often as an update of the pool asks for it.
    await until(() => projected >= 3);
    await own.ask();
    goOn();
    const told = await withBlock(own);
    source.rawBlock = read;
    projections.get = project;
    expect(told).to.include({ txConfirmed: txid });
    expect(txidsOf(told['block-transactions'])).to.deep.equal([txid]);
  });

  it('comes in one message, even if it is more than one pass can tell', async () => {
    const { addresses, transactions } = await pushing.payments(MANY);
    const txids = transactions.map((transaction) => toDisplayHex(transaction.hash()));
    const [own, other] = [await pushing.client(), await pushing.client()];
    const scripts = addresses.map((address) => scriptAt(address).toString('hex'));
    await other.ask({ 'track-scriptpubkeys': scripts, 'track-addresses': addresses.slice(1) });
    await own.ask({
      action: 'want',
      data: ['blocks'],
      'track-txs': txids,
      'track-tx': txids.at(-1),
      'track-address': addresses.at(-1)
    });
    await mineOnly(served.node, transactions);
    const { 'tracked-txs': tracked, 'block-transactions': confirmed, ...told } = await withBlock(own);
    expect(told).to.include({ txConfirmed: txids.at(-1) });
    expect(txidsOf(confirmed)).to.deep.equal(txids.slice(-1));
    expect(tracked).to.deep.equal(Object.fromEntries(txids.map((txid) => [txid, { confirmed: true }])));
    await until(() => other.told.length > 0);
    const [news = {}, ...further] = other.told;
    expect(further).to.deep.equal([]);
    expect(Object.keys(news['multi-scriptpubkey-transactions'] as object)).to.have.members(scripts);
    expect(Object.keys(news['multi-address-transactions'] as object)).to.have.members(addresses.slice(1));
    // Of all but the last address both who is paid and who pays.
    const { confirmed: both } = (news['multi-address-transactions'] as Record<string, Told>)[addresses[1] ?? ''] ?? {};
    expect(txidsOf(both)).to.deep.equal(txids.slice(1, 3));
  });

  it('comes in one message, and so does what enters the pool together', async function () {
    needsNode(this, 'a reader hears of each transaction by itself');
    const { node } = served;
    const ring = bcoin.KeyRing.generate();
    const own = await pushing.client();
    const paid = await pushing.faucet.pays(new KeyWallet(ring).address, 10 * PAID);
    const from = await pushing.transaction(paid);
    await mine(node, 1);
    const fan = signed(ring, [from], Array<PaidOutput>(MANY).fill([ANYBODY, 5_000]));
    await mineOnly(node, [fan]);
    const spends = Array.from({ length: MANY }, (_, index) =>
      bcoin.TX.fromRaw(madeTransaction([{ txid: fan.hash(), index }], [{ value: 4_000, script: scriptAt(new KeyWallet().address) }], 0))
    );
    const txids = spends.map((spend) => toDisplayHex(spend.hash()));
    await own.ask({ 'track-txs': txids });
    // All are asked for before the first pass.
    await Promise.all(spends.map((spend) => node.mempool.addTX(spend)));
    const isEntry = (facts: unknown): boolean => (facts as Told)['confirmed'] === false;
    let entered: string[] = [];
    while (entered.length === 0) {
      const facts = Object.entries((await own.next('tracked-txs')) as Told);
      entered = facts.flatMap(([txid, one]) => (isEntry(one) ? [txid] : []));
    }
    expect(entered).to.have.members(txids);
    await mine(node, 1);
  });

  it('comes in further messages where news of several scripts are more than a megabyte', async () => {
    const ring = bcoin.KeyRing.generate();
    const own = await pushing.client();
    const paid = await pushing.faucet.pays(new KeyWallet(ring).address, 10 * PAID);
    const from = await pushing.transaction(paid);
    await mine(served.node, 1);
    const scripts = ['5101', '5102', '5103'];
    const long = Buffer.concat([Buffer.from('4ec0d40100', 'hex'), Buffer.alloc(120_000)]);
    const outputs = [
      ...scripts.map((script) => [Buffer.from(script, 'hex'), PAID] as const),
      [long, PAID] as const,
      [ANYBODY, PAID] as const
    ];
    await own.ask({ 'track-scriptpubkeys': scripts });
    const wide = signed(ring, [from], outputs);
    const namesIn = (told: Told): string[] => Object.keys(told['multi-scriptpubkey-transactions'] as object);
    await mineOnly(served.node, [wide]);
    await until(() => own.told.length === 2);
    const names = own.told.splice(0).map(namesIn);
    expect(names.map(({ length }) => length)).to.deep.equal([2, 1]);
    expect(names.flat()).to.have.members(scripts);
    // What is short comes in one message again.
    const shares = scripts.map((script) => ({ value: PAID / 4, script: Buffer.from(script, 'hex') }));
    await mineOnly(served.node, [bcoin.TX.fromRaw(madeTransaction([{ txid: wide.hash(), index: 4 }], shares, 0))]);
    await until(() => own.told.length > 0);
    expect(own.told.map(namesIn)).to.deep.equal([scripts]);
  });

  it('comes in further messages where a script has more than 25 transactions', async () => {
    const ring = bcoin.KeyRing.generate();
    const { address } = new KeyWallet();
    const [one, many] = [await pushing.client(), await pushing.client()];
    const paid = await pushing.faucet.pays(new KeyWallet(ring).address, 10 * PAID);
    const from = await pushing.transaction(paid);
    await mine(served.node, 1);
    // One more than is tracked.
    const count = 51;
    const fan = signed(ring, [from], Array<PaidOutput>(count).fill([ANYBODY, 5_000]));
    const spends = Array.from({ length: count }, (_, index) =>
      bcoin.TX.fromRaw(madeTransaction([{ txid: fan.hash(), index }], [{ value: 4_000, script: scriptAt(address) }], 0))
    );
    await one.ask({ 'track-address': address });
    await many.ask({ 'track-addresses': [address] });
    const last = spends.pop() ?? expect.fail('a transaction');
    await mineOnly(served.node, [fan, ...spends]);
    await until(() => [one, many].every(({ told }) => told.length === 2));
    const txids = spends.map((spend) => toDisplayHex(spend.hash()));
    const pages = [txids.slice(0, 25), txids.slice(25)];
    expect(one.told.map((told) => txidsOf(told['block-transactions']))).to.deep.equal(pages);
    const lists = many.told.map((told) => (told['multi-address-transactions'] as Record<string, Told>)[address]?.['confirmed']);
    expect(lists.map(txidsOf)).to.deep.equal(pages);
    // A script that nobody tracks is tracked with fifty transactions, and not with more.
    const untrack = { 'track-address': 'stop', 'track-addresses': [] };
    for (const client of [one, many]) await client.ask(untrack);
    expect(await one.ask({ 'track-address': address })).to.deep.equal([]);
    await mineOnly(served.node, [last]);
    expect(txidsOf(await one.next('block-transactions'))).to.deep.equal([toDisplayHex(last.hash())]);
    expect(await one.ask(untrack, { 'track-address': address })).to.deep.equal([{ 'track-address-error': 'history too large' }]);
  });
});
