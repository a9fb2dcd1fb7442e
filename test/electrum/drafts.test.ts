// Methods that Fulcrum alone has, and those of drafts of version 1.7 of the protocol, over a socket.

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scriptHashOf, toDisplayHex } from '../../lib/bitcoin/hash';
import { scanTransaction } from '../../lib/bitcoin/transaction';
import { TooManySubscriptionsError } from '../../lib/server/bounds/subscription-memory';
import { Coinbases, COINBASE_SATS, FEE_SATS } from '../support/chain/coinbases';
import { LineClient } from '../support/client/line-client';
import { freePort, mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import type { HostTransaction } from '../../lib/node/host';

const BLOCKS = 110;
/** A fee of some 0.15 bitcoins for each 1,000 virtual bytes of a payment. */
const DEAR_SATS = 3_000_000;

interface Item {
  readonly tx_hash: string;
  readonly height: number;
}

describe('methods of Fulcrum and of drafts', () => {
  let served: ServedNode;
  let client: LineClient;
  let wallet: Coinbases;
  /** The script to which everything is paid, and its hash as clients write it. */
  let spk: string;
  let name: string;
  const txidOf = (transaction: HostTransaction): string => toDisplayHex(transaction.hash());
  const hexOf = (transaction: HostTransaction): string => transaction.toRaw().toString('hex');

  before(async () => {
    const port = await freePort();
    served = await ServedNode.open({
      settings: { 'rest-pool': 'modern', 'require-standard': true, 'limit-free-relay': 0, 'rest-electrum': port }
    });
    await served.node.connect();
    wallet = await Coinbases.mine(served.node, BLOCKS);
    await served.settle();
    client = await LineClient.connect(port);
    await client.ask('server.version', ['a test', '1.6']);
    [spk, name] = [wallet.script.toString('hex'), toDisplayHex(scriptHashOf(wallet.script))];
  });
  after(async () => {
    client.socket.destroy();
    await served.close();
  });

  const result = async (method: string, ...params: readonly unknown[]): Promise<unknown> => {
    const reply = await client.ask(method, params);
    expect(reply, method).not.to.have.property('error');
    return reply.result;
  };
  const errorOf = async (method: string, ...params: readonly unknown[]): Promise<string> => {
    const { error } = (await client.ask(method, params)) as { readonly error?: { readonly code: number; readonly message: string } };
    return error === undefined ? expect.fail(`an error of ${method}`) : `${error.code} ${error.message}`;
  };

  it('list the transactions of a script between two heights, with the pool only if there is no upper one', async () => {
    const pooled = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS);
    await result('blockchain.transaction.broadcast', hexOf(pooled));
    const whole = (await result('blockchain.scripthash.get_history', name)) as Item[];
    expect(whole.at(-1)).to.deep.equal({ tx_hash: txidOf(pooled), height: 0, fee: FEE_SATS });
    for (const from of [0, 1, 2, 57, BLOCKS, BLOCKS + 1, 10_000, 2 ** 32, 2 ** 53 - 1])
      for (const to of [undefined, -1, 0, 1, 2, 57, 58, BLOCKS, BLOCKS + 1, 10_000, 2 ** 53 - 1]) {
        if (to !== undefined && to >= 0 && from > to) continue;
        const end = to === undefined || to < 0 ? Infinity : to;
        const expected = whole.filter(({ height }) => (height > 0 ? height >= from && height < end : end === Infinity));
        const heights = to === undefined ? [from] : [from, to];
        expect(await result('blockchain.scripthash.get_history', name, ...heights), heights.join(' ')).to.deep.equal(expected);
      }
    await mine(served.node, 2);
    await served.settle();
    const confirmed = { tx_hash: txidOf(pooled), height: BLOCKS + 1 };
    expect(await result('blockchain.scripthash.get_history', name, BLOCKS + 1)).to.deep.equal([confirmed]);
    expect(await result('blockchain.scripthash.get_history', name, BLOCKS + 2)).to.deep.equal([]);
    expect(await errorOf('blockchain.scripthash.get_history', name, 3, 2)).to.equal('1 to_height must not be below from_height');
    expect(await errorOf('blockchain.scripthash.get_history', name, -1)).to.equal('1 -1 should be a non-negative integer');
    expect(await errorOf('blockchain.scripthash.get_history', name, 0, -2)).to.equal('1 -2 should be a non-negative integer');
  });

  it('give the status of a script without a subscription', async () => {
    const status = await result('blockchain.scripthash.get_status', name);
    expect(await result('blockchain.scripthash.get_status', '00'.repeat(32))).to.equal(null);
    expect(served.wallets.statuses.size).to.equal(0);
    expect(await result('blockchain.scripthash.subscribe', name)).to.equal(status);
    expect(await result('blockchain.scripthash.get_status', name)).to.equal(status);
    expect(served.wallets.statuses.size).to.equal(1);
    expect(await result('blockchain.scripthash.unsubscribe', name)).to.equal(true);
  });

  it('answer about whole scripts as about their hashes, lists in objects', async () => {
    const both = async (method: string): Promise<[unknown, unknown]> => [
      await result(`blockchain.scriptpubkey.${method}`, spk),
      await result(`blockchain.scripthash.${method}`, name)
    ];
    for (const method of ['get_balance', 'subscribe', 'unsubscribe']) {
      const [whole, hashed] = await both(method);
      // The second of two ends no subscription.
      expect(whole, method).to.deep.equal(method === 'unsubscribe' ? !(hashed as boolean) : hashed);
    }
    for (const [method, field] of [
      ['get_history', 'history'],
      ['get_mempool', 'history'],
      ['listunspent', 'utxos']
    ] as const) {
      const [whole, hashed] = await both(method);
      expect(whole, method).to.deep.equal({ [field]: hashed });
    }
    expect(await errorOf('blockchain.scriptpubkey.get_balance', '0')).to.equal('1 0 should be a hex string');
  });

  it('notify of a script under the name of the method with which a client has subscribed last, by its hash', async () => {
    for (const [subscribe, given] of [
      ['blockchain.scriptpubkey.subscribe', spk],
      ['blockchain.scripthash.subscribe', name]
    ] as const) {
      await result(subscribe, given);
      await result('blockchain.transaction.broadcast', hexOf(wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS)));
      const { method, params } = (await client.value()) as { readonly method?: string; readonly params?: unknown[] };
      expect([method, params?.[0]]).to.deep.equal([subscribe, name]);
      expect(params?.[1]).to.equal(await result('blockchain.scripthash.get_status', name));
    }
    expect(await result('blockchain.scriptpubkey.unsubscribe', spk)).to.equal(true);
    expect(await result('blockchain.scriptpubkey.unsubscribe', spk)).to.equal(false);
  });

  it('tell of an outpoint from before its transaction is known until its spend is in a block', async () => {
    const parent = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS);
    const child = wallet.paying([parent], COINBASE_SATS - 2 * FEE_SATS);
    const outpoint = [txidOf(parent), 0] as const;
    const told = async (): Promise<unknown> => {
      const { method, params } = (await client.value()) as { readonly method?: string; readonly params?: unknown[] };
      expect([method, params?.slice(0, 2)]).to.deep.equal(['blockchain.outpoint.subscribe', outpoint]);
      expect(await result('blockchain.outpoint.get_status', ...outpoint, spk)).to.deep.equal(params?.[2]);
      return params?.[2];
    };
    expect(await result('blockchain.outpoint.subscribe', ...outpoint, spk)).to.deep.equal({});
    expect(await result('blockchain.outpoint.get_status', txidOf(parent), 1, spk)).to.deep.equal({});
    await result('blockchain.transaction.broadcast', hexOf(parent));
    expect(await told()).to.deep.equal({ funder_height: 0 });
    await result('blockchain.transaction.broadcast', hexOf(child));
    expect(await told()).to.deep.equal({ funder_height: 0, spender_txhash: txidOf(child), spender_height: -1 });
    await mine(served.node, 1);
    await served.settle();
    const { height } = served.node.chain.tip;
    expect(await told()).to.deep.equal({ funder_height: height, spender_txhash: txidOf(child), spender_height: height });
    expect(await result('blockchain.outpoint.get_status', txidOf(child), 0, '')).to.deep.equal({ funder_height: height });
    expect(await result('blockchain.outpoint.get_status', txidOf(child), 1, '')).to.deep.equal({});
    expect(await result('blockchain.outpoint.unsubscribe', ...outpoint)).to.equal(true);
    expect(await result('blockchain.outpoint.unsubscribe', ...outpoint)).to.equal(false);
    expect(served.wallets.outpoints.size).to.equal(0);
    expect(served.wallets.subscriptions.count).to.equal(0);
    expect(await errorOf('blockchain.outpoint.subscribe', 'x', 0, spk)).to.equal('1 x should be a transaction hash');
    for (const method of ['subscribe', 'get_status'])
      expect(await errorOf(`blockchain.outpoint.${method}`, ...outpoint, 'x')).to.equal('1 x should be a hex string');
    expect(await errorOf('blockchain.outpoint.subscribe', ...outpoint)).to.match(/^-32602 /);
    const genesis = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b';
    expect(await result('blockchain.outpoint.get_status', genesis, 0, '')).to.deep.equal({});
  });

  it('send and accept nothing that pays more than a tenth of a bitcoin for each 1,000 virtual bytes, whatever the pool takes', async () => {
    const dear = wallet.paying([wallet.fresh()], COINBASE_SATS - DEAR_SATS);
    const exceeded = 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)';
    expect(await errorOf('blockchain.transaction.broadcast', hexOf(dear))).to.include(exceeded);
    const [tested] = (await result('blockchain.transaction.testmempoolaccept', [hexOf(dear)])) as object[];
    expect(tested).to.include({ allowed: false, reason: 'max-fee-exceeded' });
    const sent = await result('blockchain.transaction.broadcast_package', [hexOf(dear)]);
    expect(sent).to.have.property('success', false);
    expect(await result('mempool.recent')).to.deep.equal([]);
  });

  it('list what entered the pool last, the newest first, as long as it is there', async () => {
    const sent = [wallet.fresh()];
    for (let fees = FEE_SATS; sent.length < 12; fees += FEE_SATS) sent.push(wallet.paying(sent.slice(-1), COINBASE_SATS - fees));
    sent.shift();
    for (const transaction of sent) await result('blockchain.transaction.broadcast', hexOf(transaction));
    const recent = (await result('mempool.recent')) as { readonly txid: string; readonly fee: number; readonly vsize: number }[];
    expect(recent.map(({ txid, fee }) => [txid, fee])).to.deep.equal(
      sent
        .slice(1)
        .map((one) => [txidOf(one), FEE_SATS])
        .reverse()
    );
    expect(recent.map(({ vsize }) => vsize)).to.deep.equal(
      sent
        .slice(1)
        .map((one) => Math.ceil(scanTransaction(one.toRaw()).weight / 4))
        .reverse()
    );
    await mine(served.node, 1);
    await served.settle();
    expect(await result('mempool.recent')).to.deep.equal([]);
  });

  it('say whether the pool would take transactions, and why not', async () => {
    const parent = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS);
    const poor = wallet.paying([wallet.fresh()], COINBASE_SATS + 1);
    const test = (...transactions: readonly HostTransaction[]): Promise<unknown> =>
      result('blockchain.transaction.testmempoolaccept', transactions.map(hexOf));
    const named = (transaction: HostTransaction): object => ({ txid: txidOf(transaction), wtxid: txidOf(transaction) });
    expect(await test(parent)).to.deep.equal([{ ...named(parent), allowed: true }]);
    expect(await test(poor)).to.deep.equal([
      { ...named(poor), allowed: false, reason: 'bad-txns-in-belowout, value in (50.00) < value out (50.00000001)' }
    ]);
    expect(await test(parent, parent)).to.deep.equal([
      { ...named(parent), reason: 'package-contains-duplicates' },
      { ...named(parent), reason: 'package-contains-duplicates' }
    ]);
    expect(await result('mempool.recent')).to.deep.equal([]);
    const between = '1 between 1 and 25 transactions can be tested';
    expect(await errorOf('blockchain.transaction.testmempoolaccept', [])).to.equal(between);
    expect(await errorOf('blockchain.transaction.testmempoolaccept', Array(26).fill('00'))).to.equal(between);
    expect(await errorOf('blockchain.transaction.testmempoolaccept', 'x')).to.equal('1 x should be a list');
    for (const hexes of [['00'], Array<string>(25).fill('00')])
      expect(await errorOf('blockchain.transaction.testmempoolaccept', hexes)).to.match(/^2 daemon error: .*TX decode failed/);
  });

  it('have memory for subscriptions, a quarter of it for one address, unless that is of the node’s machine', () => {
    const most = (address: string): number => {
      const memory = served.wallets.subscriptions.open(address);
      try {
        for (let count = 0; ; count++) memory.take();
      } catch (error) {
        expect(error).to.be.instanceOf(TooManySubscriptionsError);
        return served.wallets.subscriptions.count;
      } finally {
        memory.close();
      }
    };
    const [far, own] = [most('192.0.2.1'), most('127.0.0.1')];
    expect(far).to.equal(Math.ceil(own / 4));
  });
});
