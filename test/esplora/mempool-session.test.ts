// A session of mempool's web front end, page by page: the requests that each page makes and the messages that it gets, in the form that the
// front end's own interfaces require.

import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { withEarlyForks } from '../support/chain/early-forks';
import { Faucet } from '../support/chain/faucet';
import { ask } from '../support/client/http';
import { KeyWallet } from '../support/chain/key-wallet';
import { frontEndFault, type FrontEndInterface } from '../support/client/mempool-front-end';
import { PushClient, type Told } from '../support/client/push-client';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';

const PAID = 50_000;
const TIMEOUT_MS = 60_000;

interface Projected {
  readonly index: number;
  readonly sequence: number;
  readonly blockTransactions?: readonly (readonly unknown[])[];
  readonly delta?: {
    readonly added: readonly (readonly unknown[])[];
    readonly removed: readonly string[];
    readonly changed: readonly (readonly unknown[])[];
  };
}

describe('a session of mempool’s front end', () => {
  withEarlyForks();
  let served: ServedNode;
  let faucet: Faucet;
  let page: PushClient;

  before(async function () {
    this.timeout(TIMEOUT_MS);
    served = await ServedNode.open();
    faucet = await Faucet.on(served.node, 30);
    page = await PushClient.connect(served.port);
    page.socket.on('message', (data: Buffer) => {
      const fault = frontEndFault('WebsocketResponse', JSON.parse(data.toString()));
      if (fault !== undefined) faults.push(fault);
    });
  });
  after(async () => {
    page.socket.terminate();
    await served.node.close();
  });

  /** What the front end found wrong in messages. */
  const faults: string[] = [];
  afterEach(() => {
    expect(faults.splice(0)).to.deep.equal([]);
  });

  /** An answer in the form of one of the front end's interfaces. */
  const get = async <T>(path: string, name?: FrontEndInterface, isList = false): Promise<T> => {
    const { status, body } = await ask(served.port, { path: `/api${path}` });
    expect(status, `${path} ${body.toString()}`).to.equal(200);
    const value = JSON.parse(body.toString()) as T;
    if (name !== undefined) expect(frontEndFault(name, value, isList), path).to.equal(undefined);
    return value;
  };

  /** The next message with these fields. */
  const message = async (...names: readonly string[]): Promise<Told> => {
    const hasAll = (told: Told): boolean => names.every((name) => name in told);
    await until(() => page.told.some(hasAll));
    return page.told.splice(page.told.findIndex(hasAll), 1)[0] ?? {};
  };

  /** Resolves once the page has been told that the next block has so many transactions. */
  const projected = async (count: number): Promise<void> => {
    const isSo = ({ 'mempool-blocks': blocks }: Told): boolean => (blocks as { nTx: number }[] | undefined)?.[0]?.nTx === count;
    await until(() => page.told.some(isSo));
    page.told.splice(0, page.told.findIndex(isSo) + 1);
  };

  it('begins with everything at once, over HTTP and over the WebSocket alike', async () => {
    const [init = {}] = await page.ask({ action: 'init' });
    expect(init).to.have.keys(
      ...['backend', 'blocks', 'mempoolInfo', 'vBytesPerSecond', 'fees', 'transactions', 'mempool-blocks'],
      ...['da', 'conversions', 'backendInfo', 'loadingIndicators']
    );
    const data = await get<Told>('/v1/init-data', 'WebsocketResponse');
    expect(Object.keys(data)).to.have.members(Object.keys(init));
    expect(data['blocks']).to.deep.equal(init['blocks']);
    await get('/v1/prices');
    await get('/v1/backend-info', 'IBackendInfo');
  });

  it('home: blocks, projected blocks and statistics change together with a block', async () => {
    const [{ blocks, 'mempool-blocks': projected } = {}] = await page.ask(
      { action: 'want', data: ['blocks', 'stats', 'mempool-blocks', 'live-2h-chart'] },
      { 'track-rbf-summary': true }
    );
    expect([(blocks as unknown[]).length, projected]).to.deep.equal([8, []]);
    await get('/v1/mining/difficulty-adjustments/1m');
    await get('/v1/mining/hashrate/3m');
    await get('/v1/mining/reward-stats/144', 'RewardStats');
    await faucet.pays(new KeyWallet().address, PAID);
    const pooled = await message('mempoolInfo', 'mempool-blocks', 'fees', 'transactions', 'vBytesPerSecond');
    expect(pooled['mempool-blocks']).to.deep.equal(await get('/v1/fees/mempool-blocks', 'MempoolBlock', true));
    await mine(served.node, 1);
    const told = await message('block', 'mempoolInfo', 'mempool-blocks', 'da');
    expect(told['block']).to.include({ height: served.node.chain.height, tx_count: 2 });
    expect(told['mempool-blocks']).to.deep.equal([]);
    expect(told['mempoolInfo']).to.include({ size: 0 });
  });

  it('a block: its figures and its transactions, which add up', async () => {
    const blocks = await get<{ id: string; tx_count: number; extras: { totalFees: number } }[]>('/v1/blocks', 'BlockExtended', true);
    expect(blocks).to.have.lengthOf(15);
    const [{ id, tx_count: count, extras } = expect.fail('a block')] = blocks;
    expect(await get(`/v1/block/${id}`, 'BlockExtended')).to.deep.equal(blocks[0]);
    const summary = await get<{ txid: string; fee: number }[]>(`/v1/block/${id}/summary`, 'TransactionStripped', true);
    expect(summary).to.have.lengthOf(count);
    expect(summary.reduce((sum, { fee }) => sum + fee, 0)).to.equal(extras.totalFees);
    for (const one of summary) expect(await get(`/v1/block/${id}/tx/${one.txid}/summary`, 'TransactionStripped')).to.deep.equal(one);
    const { status, body } = await ask(served.port, { path: `/api/v1/block/${id}/tx/${id}/summary` });
    expect([status, body.toString()]).to.deep.equal([404, 'Transaction not found']);
    const above = served.node.chain.height + 5;
    expect(await get(`/v1/blocks/${above}`)).to.deep.equal(blocks.slice(0, 10));
  });

  it('a transaction: its place in the next blocks, and its confirmation beside its block', async () => {
    const wallet = new KeyWallet();
    const txid = await faucet.pays(wallet.address, PAID);
    await served.settle();
    const [told = {}] = await page.ask({ 'track-tx': txid, 'watch-mempool': true });
    expect(told['tx']).to.include({ txid });
    expect(told['txPosition']).to.deep.nested.include({ txid, 'position.block': 0 });
    await get(`/v1/cpfp/${txid}`, 'CpfpInfo');
    const [time = 0] = await get<number[]>(`/v1/transaction-times?txId%5B%5D=${txid}`);
    expect(time).to.equal(served.answers.node.pool.entry(Buffer.from(txid, 'hex').reverse())?.time);
    expect(await get(`/v1/tx/${txid}/rbf`)).to.deep.equal({ replacements: null, replaces: null });
    await mine(served.node, 2);
    const first = await message('txConfirmed');
    expect(first).to.nested.include({ txConfirmed: txid, 'block.height': served.node.chain.height - 1 });
    expect((await message('block'))['block']).to.include({ height: served.node.chain.height });
    await page.ask({ 'track-tx': 'stop' });
  });

  it('many transactions: what becomes of each, in one object', async () => {
    const [one, two] = [await faucet.pays(new KeyWallet().address, PAID), await faucet.pays(new KeyWallet().address, PAID)];
    await served.settle();
    const [{ 'tracked-txs': tracked } = {}] = await page.ask({ 'track-txs': [one, two, '0'.repeat(64), 'x'] });
    expect(tracked).to.have.keys(one, two);
    expect(tracked).to.nested.include({ [`${one}.confirmed`]: false, [`${two}.position.block`]: 0 });
    await mine(served.node, 1);
    const told = await message('tracked-txs', 'block');
    expect(told['tracked-txs']).to.deep.equal({ [one]: { confirmed: true }, [two]: { confirmed: true } });
    expect(await page.ask({ 'track-txs': Array.from({ length: 101 }, () => one) })).to.deep.equal([
      { 'track-txs-error': 'too many txids requested, this connection supports tracking a maximum of 100 transactions' }
    ]);
    expect(served.wallets.push.tracked).to.equal(0);
  });

  it('a projected block: all of it, then what changes', async () => {
    for (let i = 0; i < 3; i++) await faucet.pays(new KeyWallet().address, PAID);
    await projected(3);
    const [{ 'projected-block-transactions': whole } = {}] = await page.ask({ 'track-mempool-block': 0 });
    const { index, sequence, blockTransactions = [] } = whole as Projected;
    expect([index, blockTransactions.length]).to.deep.equal([0, 3]);
    const added = await faucet.pays(new KeyWallet().address, PAID);
    const next = (await message('projected-block-transactions'))['projected-block-transactions'] as Projected;
    expect(next.sequence).to.equal(sequence + 1);
    expect(next.delta?.added.map(([txid]) => txid)).to.deep.equal([added]);
    await mine(served.node, 1);
    const emptied = (await message('projected-block-transactions', 'block'))['projected-block-transactions'] as Projected;
    expect(emptied.sequence).to.equal(sequence + 2);
    expect(emptied.delta?.removed).to.have.members([added, ...blockTransactions.map(([txid]) => txid)]);
    expect(await page.ask({ 'track-mempool-block': -1 })).to.deep.equal([]);
  });

  it('prioritised transactions: their new rates, though nothing enters or leaves the pool', async () => {
    const txids = [await faucet.pays(new KeyWallet().address, PAID), await faucet.pays(new KeyWallet().address, PAID)];
    await projected(2);
    await page.ask({ 'track-mempool-block': 0 });
    const leastRate = async (): Promise<number> => {
      const [{ feeRange: [least] = [] } = {}] = await get<{ feeRange?: number[] }[]>('/v1/fees/mempool-blocks', 'MempoolBlock', true);
      return least ?? 0;
    };
    const before = await leastRate();
    for (const txid of txids) await served.node.rpc.execute({ method: 'prioritisetransaction', params: [txid, 0, 1_000_000] });
    expect(await leastRate()).to.be.greaterThan(2 * before);
    const { delta } = (await message('projected-block-transactions'))['projected-block-transactions'] as Projected;
    expect(delta?.changed.map(([txid]) => txid)).to.have.members(txids);
    await mine(served.node, 1);
    await message('projected-block-transactions', 'block');
    await page.ask({ 'track-mempool-block': -1 });
  });

  it('an address: is valid, and tells its transactions beside their block', async () => {
    const { address } = new KeyWallet();
    expect(await get(`/v1/validate-address/${address}`, 'AddressInformation')).to.include({ isvalid: true, address, iswitness: true });
    expect(await get(`/v1/validate-address/${address}x`, 'AddressInformation')).to.include({ isvalid: false });
    await page.ask({ 'track-address': address });
    await faucet.pays(address, PAID);
    await message('address-transactions');
    await mine(served.node, 1);
    expect(await message('block-transactions')).to.include.keys('block');
  });
});
