import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin } from '../support/bcoin/bcoin';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { withEarlyForks } from '../support/chain/early-forks';
import { scriptAt } from '../support/chain/faucet';
import { ask } from '../support/client/http';
import { KeyWallet } from '../support/chain/key-wallet';
import { PushClient } from '../support/client/push-client';
import { mine, mineOnly } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import { signed } from '../support/chain/signed';
import type { HostTransaction } from '../../lib/node/host';

describe('a transaction that is replaced in the pool', () => {
  withEarlyForks();
  let served: ServedNode;
  const clients: PushClient[] = [];
  const ring = bcoin.KeyRing.generate();
  let coins: HostTransaction[];
  const wallet = new KeyWallet();

  before(async () => {
    served = await ServedNode.open({ settings: { 'rest-pool': 'modern' } });
    const blocks = await mine(served.node, 105, undefined, ring.getAddress());
    coins = blocks.slice(0, 5).map(({ txs }) => txs[0] as HostTransaction);
    await served.settle();
  });
  after(() => served.close());
  afterEach(() => {
    for (const { socket } of clients.splice(0)) socket.terminate();
  });

  const client = async (): Promise<PushClient> => {
    const made = await PushClient.connect(served.port);
    clients.push(made);
    return made;
  };
  const esplora = async <T>(path: string): Promise<T> => JSON.parse((await ask(served.port, { path: `/api${path}` })).body.toString()) as T;
  const send = async (transaction: HostTransaction): Promise<string> => {
    const body = transaction.toRaw().toString('hex');
    const reply = await ask(served.port, { method: 'POST', path: '/api/tx', body: Buffer.from(body) });
    expect(reply.body.toString()).to.equal(toDisplayHex(transaction.hash()));
    return reply.body.toString();
  };
  /** Pays to the wallet. */
  const paying = (coin: HostTransaction, fee: number): HostTransaction =>
    signed(ring, [coin], [[scriptAt(wallet.address), COINBASE_SATS - fee]]);

  interface Stats {
    readonly mempool_stats: { readonly tx_count: number; readonly funded_txo_sum: number };
  }
  const pooled = async (): Promise<Stats['mempool_stats']> => (await esplora<Stats>(`/address/${wallet.address}`)).mempool_stats;

  it('is gone with all that spent from it, and the new one is there', async () => {
    const coin = coins.pop() as HostTransaction;
    const first = paying(coin, 1_000);
    const child = wallet.sends(first.toRaw().toString('hex'), COINBASE_SATS - 1_000, wallet.address, 50_000);
    for (const transaction of [first, child.transaction]) await send(transaction);
    expect(await pooled()).to.include({ tx_count: 2 });
    const second = paying(coin, 20_000);
    await send(second);
    expect(await pooled()).to.include({ tx_count: 1, funded_txo_sum: COINBASE_SATS - 20_000 });
    expect(await esplora(`/tx/${toDisplayHex(second.hash())}/status`)).to.deep.equal({ confirmed: false });
    for (const txid of [toDisplayHex(first.hash()), child.txid])
      expect((await ask(served.port, { path: `/api/tx/${txid}` })).status).to.equal(404);
    expect(await esplora(`/tx/${toDisplayHex(coin.hash())}/outspend/0`)).to.deep.include({
      spent: true,
      txid: toDisplayHex(second.hash())
    });
    const refused = await ask(served.port, { method: 'POST', path: '/api/tx', body: Buffer.from(first.toRaw().toString('hex')) });
    expect([refused.status, refused.body.toString()]).to.deep.equal([
      400,
      `sendrawtransaction RPC error: {"code":-26,"message":"insufficient fee, rejecting replacement ${toDisplayHex(first.hash())}, less fees than conflicting txs; 0.00001 < 0.0002"}`
    ]);
  });

  it('is told over mempool’s WebSocket: to who tracks it, or one that descends from it, or its addresses, or asks for it later', async () => {
    const coin = coins.pop() as HostTransaction;
    const first = paying(coin, 1_000);
    const child = wallet.sends(first.toRaw().toString('hex'), COINBASE_SATS - 1_000, wallet.address, 50_000);
    const second = paying(coin, 20_000);
    const [txid, replacement] = [first, second].map((one) => toDisplayHex(one.hash()));
    await send(first);
    await send(child.transaction);
    const [own, others] = [await client(), await client()];
    await own.ask({ 'track-tx': txid, 'track-address': wallet.address });
    await others.ask({ 'track-tx': child.txid });
    await send(second);
    expect(await own.next('rbfTransaction')).to.deep.equal({ txid: replacement });
    expect(await others.next('rbfTransaction')).to.deep.equal({ txid: replacement });
    // A reader of a fleet hears of them one by one.
    const removed: { readonly txid: string }[] = [];
    while (removed.length < 2) removed.push(...((await own.next('address-removed-transactions')) as typeof removed));
    expect(removed.map((one) => one.txid)).to.have.members([txid, child.txid]);
    const late = await client();
    expect(await late.ask({ 'track-tx': txid, 'watch-mempool': true })).to.deep.equal([{ txReplaced: { txid: replacement } }]);
    expect(await late.ask({ 'track-tx': txid })).to.deep.equal([]);
    await mine(served.node, 1);
    // It has been told all that there is to tell.
    expect(await late.ask({ 'track-tx': replacement })).to.deep.equal([{ txConfirmed: replacement }]);
  });

  it('is known to whoever asks later also if one of a block has displaced it, or what it spent from', async () => {
    const coin = coins.pop() as HostTransaction;
    const [first, second] = [paying(coin, 1_000), paying(coin, 20_000)];
    const child = wallet.sends(first.toRaw().toString('hex'), COINBASE_SATS - 1_000, wallet.address, 50_000);
    await send(first);
    await send(child.transaction);
    await mineOnly(served.node, [second]);
    await served.settle();
    for (const txid of [toDisplayHex(first.hash()), child.txid]) {
      const late = await client();
      const told = await late.ask({ 'track-tx': txid, 'watch-mempool': true });
      expect(told).to.deep.equal([{ txReplaced: { txid: toDisplayHex(second.hash()) } }]);
    }
  });

  it('is no longer known as replaced once it is back in the pool', async () => {
    const coin = coins.pop() as HostTransaction;
    const [first, second] = [paying(coin, 1_000), paying(coin, 20_000)];
    const late = await client();
    const { mempool } = served.node;
    const evictAll = (): void => {
      for (const entry of [...mempool.map.values()]) mempool.evictEntry(entry);
    };
    const tracked = { 'track-tx': toDisplayHex(first.hash()), 'watch-mempool': true };
    await send(first);
    await send(second);
    expect(await late.ask(tracked)).to.deep.equal([{ txReplaced: { txid: toDisplayHex(second.hash()) } }]);
    evictAll();
    await send(first);
    evictAll();
    expect(await late.ask(tracked)).to.deep.equal([]);
  });
});
