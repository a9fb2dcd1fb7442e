import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin, type HostFullBlock } from '../support/bcoin/bcoin';
import { needsNode, NO_FEED_WHILE_SHORTER } from '../support/fleet/fleet';
import { KeyWallet } from '../support/chain/key-wallet';
import { type PushingNode, txidsOf, withPushingNode } from './pushing-node';
import { blockWith, entryOf, mine } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { HostTransaction } from '../../lib/node/host';
import type { Faucet } from '../support/chain/faucet';
import type { PushClient } from '../support/client/push-client';
import type { ServedNode } from '../support/node/served-node';

const PAID = 50_000;

interface ToldBlock {
  readonly id: string;
  readonly height: number;
}

const heightsOf = (told: unknown): number[] => (told as ToldBlock[]).map(({ height }) => height);

describe('blocks and pool over mempool’s WebSocket', () => {
  let pushing: PushingNode;
  let served: ServedNode;
  let faucet: Faucet;

  withPushingNode((opened) => {
    pushing = opened;
    ({ served, faucet } = opened);
  });

  const client = (): Promise<PushClient> => pushing.client();
  const esplora = (path: string): Promise<unknown> => pushing.esplora(path);

  it('tells a new client the last blocks, the pool and recommended fees', async () => {
    const { node } = served;
    const [{ blocks, mempoolInfo, fees } = {}] = await (await client()).ask({ action: 'init' });
    const { height } = node.chain;
    expect(heightsOf(blocks)).to.deep.equal(Array.from({ length: 8 }, (_, i) => height - 7 + i));
    expect((blocks as unknown[]).toReversed()).to.deep.equal(((await esplora('/v1/blocks')) as unknown[]).slice(0, 8));
    expect(mempoolInfo).to.include({ size: 0 });
    expect(fees).to.deep.equal(await esplora('/v1/fees/precise'));
  });

  it('tells of the last change of a pool, although the projection was older at first', async () => {
    const { projections } = served.answers;
    const own = await client();
    await own.ask({ action: 'want', data: ['mempool-blocks'] });
    const get = projections.get.bind(projections);
    const late = await get();
    // As that of a large pool may be.
    projections.get = () => late;
    await faucet.pays(new KeyWallet().address, PAID);
    expect(await own.next('mempool-blocks')).to.deep.equal([]);
    projections.get = get;
    expect(await own.next('mempool-blocks')).to.deep.equal(await esplora('/v1/fees/mempool-blocks'));
    await mine(served.node, 1);
  });

  it('shows a projected block as it is now, although nobody has looked into one since before the last change', async () => {
    const own = await client();
    await own.ask({ 'track-mempool-block': 0 }, { 'track-mempool-block': -1 });
    const txid = await faucet.pays(new KeyWallet().address, PAID);
    // Longer than it takes the server to notice.
    await setTimeout(2_200);
    const [{ 'projected-block-transactions': told } = {}] = await own.ask({ 'track-mempool-block': 0 });
    const { blockTransactions = [] } = told as { readonly blockTransactions?: readonly (readonly unknown[])[] };
    expect(blockTransactions.map(([first]) => first)).to.deep.equal([txid]);
    await mine(served.node, 1);
  });

  it('tells what changes in a projected block to who looks into it, although others come and leave', async () => {
    const own = await client();
    const [{ 'projected-block-transactions': whole } = {}] = await own.ask({ 'track-mempool-block': 0 });
    const { sequence } = whole as { readonly sequence: number };
    const other = await client();
    await other.ask();
    other.socket.terminate();
    await until(() => served.wallets.sessions.count === 1);
    await faucet.pays(new KeyWallet().address, PAID);
    expect(await own.next('projected-block-transactions')).to.include({ sequence: sequence + 1 });
    await mine(served.node, 1);
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

  /** A client that wants blocks, after a reorganization to a branch with so many new ones. */
  const clientAfterReorganization = async (count: number): Promise<PushClient> => {
    const { node } = served;
    await mine(node, count - 1);
    const own = await client();
    await own.ask({ action: 'want', data: ['blocks'] });
    const fork = await node.chain.getEntryByHeight(node.chain.height - count + 1);
    const side = (await mine(node, count - 1, fork ?? undefined)).at(-1);
    await mine(node, 1, side && (await entryOf(node, side)));
    return own;
  };

  it('tells each of eight blocks that come at once', async () => {
    const own = await clientAfterReorganization(8);
    const { height } = served.node.chain;
    expect(heightsOf(await own.next('blocks')).at(-1)).to.equal(height - 8);
    for (let next = height - 7; next <= height; next++) expect(await own.next('block')).to.include({ height: next });
    expect(await own.ask()).to.deep.equal([]);
  });

  it('tells only the last blocks if more come at once', async () => {
    const own = await clientAfterReorganization(9);
    const { height } = served.node.chain;
    expect(heightsOf(await own.next('blocks'))).to.deep.equal(Array.from({ length: 8 }, (_, i) => height - 7 + i));
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

  it('tells a client the last blocks that could not be read for the one before', async () => {
    const { node, source } = served;
    // As above.
    await mine(node, 8);
    const read = source.rawBlock.bind(source);
    source.rawBlock = () => Promise.reject(new Error('the disk is gone'));
    const [unlucky, own] = [await client(), await client()];
    unlucky.send({ action: 'want', data: ['blocks'] });
    await unlucky.closed();
    source.rawBlock = read;
    const [{ blocks } = {}] = await own.ask({ action: 'want', data: ['blocks'] });
    expect(heightsOf(blocks).at(-1)).to.equal(node.chain.height);
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

  it('tells pool and recommended fees to clients that want statistics', async () => {
    const own = await client();
    const [stats] = await own.ask({ action: 'want', data: ['stats'] });
    expect(stats).to.have.keys('mempoolInfo', 'vBytesPerSecond', 'fees', 'transactions', 'da');
    const { size } = stats?.['mempoolInfo'] as { size: number };
    await faucet.pays(new KeyWallet().address, PAID);
    expect(await own.next('mempoolInfo')).to.have.property('size', size + 1);
    await own.ask({ action: 'want', data: ['blocks', 'stats'] });
    await mine(served.node, 1);
    await until(() => own.told.some((told) => 'block' in told));
    // What the block changes in the pool is told with it.
    expect(own.told.find((told) => 'block' in told)).to.include.keys('mempoolInfo', 'fees', 'da');
  });

  it('tells the last transactions with what they pay out, and with rates by the whole weight', async () => {
    const wallet = new KeyWallet();
    const paid = await faucet.pays(wallet.address, PAID);
    await mine(served.node, 1);
    const { txid, hex } = wallet.sends(await pushing.text(`/tx/${paid}/hex`), PAID, wallet.address, 10_000);
    const own = await client();
    await own.ask({ action: 'want', data: ['stats'] });
    await served.node.mempool.addTX(bcoin.TX.fromRaw(Buffer.from(hex, 'hex')));
    const [latest] = (await own.next('transactions')) as object[];
    const { fee, weight } = (await esplora(`/tx/${txid}`)) as { fee: number; weight: number };
    const [time] = (await esplora(`/v1/transaction-times?txId[]=${txid}`)) as number[];
    expect(latest).to.deep.equal({ txid, fee, vsize: weight / 4, value: PAID - fee, rate: (4 * fee) / weight, time });
    await mine(served.node, 1);
  });

  it('tells the last blocks and what an address gets after a reset by more blocks than are remembered', async function () {
    needsNode(this, NO_FEED_WHILE_SHORTER);
    const { node } = served;
    const ring = bcoin.KeyRing.generate();
    const own = await client();
    await own.ask({ action: 'want', data: ['blocks'], 'track-address': new KeyWallet(ring).address });
    await node.chain.reset(1);
    expect(heightsOf(await own.next('blocks'))).to.deep.equal([0]);
    expect(await own.next('block')).to.include({ height: 1 });
    const block = await blockWith(node, [], undefined, ring.getAddress());
    await node.chain.add(block);
    expect(await own.next('block')).to.include({ height: 2 });
    expect(txidsOf(await own.next('block-transactions'))).to.deep.equal([toDisplayHex((block.txs[0] as HostTransaction).hash())]);
  });
});
