import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { EsploraRequest } from '../../lib/esplora/endpoint';
import { broadcastRoutes } from '../../lib/esplora/endpoints/broadcast';
import { bcoin } from '../support/bcoin/bcoin';
import { Coinbases, COINBASE_SATS, FEE_SATS } from '../support/chain/coinbases';
import { ServedNode } from '../support/node/served-node';
import { mine } from '../support/bcoin/regtest-node';
import { signed } from '../support/chain/signed';
import type { HostTransaction } from '../../lib/node/host';

const UNCONFIRMED = '{"confirmed":false}';

describe('broadcasting transactions over Esplora’s interface', () => {
  let served: ServedNode;
  let wallet: Coinbases;
  const txidOf = (transaction: HostTransaction): string => toDisplayHex(transaction.hash());
  const hexOf = (transaction: HostTransaction): string => transaction.toRaw().toString('hex');

  const text = async (path: string, body?: string): Promise<string> => {
    const reply = await served.get(path, body === undefined ? {} : { method: 'POST', body: Buffer.from(body) });
    return `${reply.status} ${reply.body.toString()}`;
  };

  before(async () => {
    served = await ServedNode.open({ settings: { 'require-standard': true, 'limit-free-relay': 0 } });
    await served.node.connect();
    wallet = await Coinbases.mine(served.node, 110);
    await served.settle();
  });
  after(() => served.node.close());

  it('brings them into the pool, where they are confirmed', async () => {
    const from = wallet.fresh();
    const transaction = wallet.paying([from], COINBASE_SATS - FEE_SATS);
    const [txid, spent] = [txidOf(transaction), `/tx/${txidOf(from)}/outspend/0`];
    expect(await text(spent)).to.equal('200 {"spent":false}');
    const sent = await served.get('/tx', { method: 'POST', body: Buffer.from(hexOf(transaction)) });
    expect([sent.body.toString(), sent.contentType, sent.headers['cache-control']]).to.deep.equal([
      txid,
      'text/plain',
      'public, max-age=0'
    ]);
    // One of the other outputs may be the witness commitment.
    const unspendable = ',{"spent":false}'.repeat(scanWholeTransaction(from.toRaw()).outputs.length - 1);
    const inPool = [
      `200 {"spent":true,"txid":"${txid}","vin":0,"status":${UNCONFIRMED}}`,
      `200 [{"spent":true,"txid":"${txid}","vin":0,"status":${UNCONFIRMED}}${unspendable}]`,
      `200 ${UNCONFIRMED}`,
      '404 Transaction not found or is unconfirmed'
    ];
    const paths = [spent, `/tx/${txidOf(from)}/outspends`, `/tx/${txid}/status`, `/tx/${txid}/merkle-proof`];
    const texts = (): Promise<string[]> => Promise.all(paths.map((path) => text(path)));
    expect(await texts()).to.deep.equal(inPool);
    const unconfirmed = await text(`/tx/${txid}`);
    expect(unconfirmed.endsWith(`"fee":${FEE_SATS},"status":${UNCONFIRMED}}`)).to.equal(true);

    const [block] = await mine(served.node, 1);
    await served.settle();
    const { height, time } = served.node.chain.tip;
    const hash = toDisplayHex(block?.hash() as Buffer);
    const status = `{"confirmed":true,"block_height":${height},"block_hash":"${hash}","block_time":${time}}`;
    expect((await texts()).slice(0, 3)).to.deep.equal(inPool.slice(0, 3).map((before) => before.replace(UNCONFIRMED, status)));
    expect(await text(`/tx/${txid}`)).to.equal(unconfirmed.replace(UNCONFIRMED, status));
    const proof = JSON.parse((await text(`/tx/${txid}/merkle-proof`)).slice(4)) as unknown;
    expect(proof).to.deep.equal({ block_height: height, merkle: [txidOf(block?.txs[0] as HostTransaction)], pos: 1 });
    expect(await text('/tx', hexOf(transaction))).to.equal(
      '400 sendrawtransaction RPC error: {"code":-27,"message":"Transaction outputs already in utxo set"}'
    );
  });

  it('refuses them with the codes and words of Bitcoin Core', async () => {
    const refused = (code: number, message: string): string => `400 sendrawtransaction RPC error: ${JSON.stringify({ code, message })}`;
    const undecodable = refused(-22, 'TX decode failed. Make sure the tx has at least one input.');
    expect(await text('/tx', '00')).to.equal(undecodable);
    expect(await text('/tx', '')).to.equal(undecodable);
    expect(await text('/broadcast?tx=zz')).to.equal(undecodable);
    const orphan = wallet.paying([wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS)], 1_000_000);
    expect(await text('/tx', hexOf(orphan))).to.equal(refused(-25, 'bad-txns-inputs-missingorspent'));
    expect(await text('/tx', hexOf(wallet.paying([wallet.fresh()], COINBASE_SATS + 1)))).to.equal(
      refused(-26, 'bad-txns-in-belowout, value in (50.00) < value out (50.00000001)')
    );
  });

  it('works with GET as well', async () => {
    const transaction = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS);
    expect(await text(`/broadcast?tx=${hexOf(transaction)}`)).to.equal(`200 ${txidOf(transaction)}`);
  });

  it('works for packages, and for tests', async () => {
    const parent = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS);
    const child = wallet.paying([parent], COINBASE_SATS - 2 * FEE_SATS);
    const both = JSON.stringify([parent, child].map(hexOf));
    const trials = await text('/txs/test?maxfeerate=0.1', both);
    const results = JSON.parse(trials.slice(4)) as { txid: string; allowed: boolean }[];
    expect(results.map(({ txid, allowed }) => [txid, allowed])).to.deep.equal([
      [txidOf(parent), true],
      [txidOf(child), true]
    ]);
    expect(await text(`/tx/${txidOf(child)}`)).to.equal('404 Transaction not found');
    const sent = await text('/txs/package', both);
    const { package_msg: message, 'tx-results': of } = JSON.parse(sent.slice(4)) as { package_msg: string; 'tx-results': object };
    expect([message, Object.keys(of).length]).to.deep.equal(['success', 2]);
    expect(await text(`/tx/${txidOf(child)}/status`)).to.equal(`200 ${UNCONFIRMED}`);
    // Where mempool's front end sends them: all are in the pool already.
    expect(await text('/v1/txs/package', both)).to.equal(sent);
  });

  it('rounds limits to satoshis', async () => {
    const both = JSON.stringify([hexOf(wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS))]);
    for (const limit of ['0.123456789', '1e-1', '0.30000000000000004'])
      expect(JSON.parse((await text(`/txs/test?maxfeerate=${limit}`, both)).slice(4)), limit).to.have.nested.property('[0].allowed', true);
    expect(await text('/txs/test?maxfeerate=1e-10', both)).to.match(/^200 .*"allowed":true/);
    expect(await text('/txs/test?maxfeerate=0.00000001', both)).to.match(/^200 .*"max-fee-exceeded"/);
    expect(await text('/txs/test?maxfeerate=-1', both)).to.match(/^400 .*Amount out of range/);
  });

  it('pages through all of them, without those of other scripts', async () => {
    const [ours, theirs] = [bcoin.KeyRing.generate(), bcoin.KeyRing.generate()];
    const chained: HostTransaction[] = [];
    for (const [from, count] of [
      [wallet.fresh(), 23],
      [wallet.fresh(), 22],
      [wallet.fresh(), 20]
    ] as const)
      for (let i = 0, last = from, left = COINBASE_SATS; i < count; i++) {
        left -= FEE_SATS + 1_000;
        last = signed(
          wallet.ring,
          [last],
          [
            [wallet.script, left],
            [ours.getAddress(), 1_000]
          ]
        );
        chained.push(last);
        expect(await text('/tx', hexOf(last))).to.equal(`200 ${txidOf(last)}`);
      }
    const foreign = signed(wallet.ring, [wallet.fresh()], [[theirs.getAddress(), COINBASE_SATS - FEE_SATS]]);
    await text('/tx', hexOf(foreign));
    const address = ours.getAddress('string', 'regtest');
    const pageAfter = async (cursor: string): Promise<string[]> => {
      const reply = await text(`/addresses/txs${cursor === '' ? '' : `?after_txid=${cursor}`}`, JSON.stringify([address]));
      return (JSON.parse(reply.slice(4)) as { txid: string }[]).map(({ txid }) => txid);
    };
    const all: string[] = [];
    for (let page = await pageAfter(''); page.length > 0; page = await pageAfter(all.at(-1) ?? '')) all.push(...page);
    expect(all).to.have.members(chained.map(txidOf));
    expect(await pageAfter(txidOf(foreign))).to.deep.equal([]);
    expect(await text(`/address/${address}/txs?after_txid=${txidOf(foreign)}`)).to.equal('200 []');
    await mine(served.node, 1);
    await served.settle();
  });

  it('checks requests before they are given to a call', async () => {
    const hex = '00'.repeat(60);
    const cases: readonly [body: string, reply: string][] = [
      ['', '400 Invalid body: expected a JSON array of transactions in hex'],
      ['{}', '400 Invalid body: expected a JSON array of transactions in hex'],
      ['[1]', '400 Invalid body: expected a JSON array of transactions in hex'],
      [JSON.stringify(Array.from({ length: 26 }, () => hex)), '400 Exceeded maximum of 25 transactions'],
      // The rest is not looked at.
      [`[${'"",'.repeat(26)}`, '400 Exceeded maximum of 25 transactions'],
      [JSON.stringify([hex, hex.slice(2)]), '400 Invalid transaction size for item 1'],
      [JSON.stringify([hex, `${hex}0`]), '400 Invalid transaction hex for item 1'],
      [JSON.stringify([`zz${hex}`]), '400 Invalid transaction hex for item 0'],
      [JSON.stringify([`zz${hex}`, '00']), '400 Invalid transaction hex for item 0']
    ];
    for (const path of ['/txs/package', '/v1/txs/package', '/txs/test'])
      for (const [body, reply] of cases) expect(await text(path, body), body.slice(0, 20)).to.equal(reply);
    for (const amount of ['x', '', '+1', '0x1', '1,0', 'Infinity'])
      expect(await text(`/txs/test?maxfeerate=${amount}`, '["00"]'), amount).to.equal('400 Invalid maxfeerate');
    expect(await text('/txs/package?maxfeerate=.1&maxburnamount=1e', '["00"]')).to.equal('400 Invalid maxburnamount');
    expect(await text('/txs/test', JSON.stringify([hex]))).to.match(
      /^400 testmempoolaccept RPC error: \{"code":-22,"message":"TX decode failed: /
    );
    expect(await text('/txs/package', '[]')).to.match(/^400 submitpackage RPC error: \{"code":-8,/);
  });

  it('reads amounts of any length in one pass', async () => {
    const route = broadcastRoutes({ ...served.answers, broadcast: true }).find(({ path }) => path === '/txs/test');
    const query = `maxfeerate=${'1'.repeat(400_000)}x`;
    const error = await route?.endpoint(new EsploraRequest(new Map(), query, Buffer.from('[]'), { destroyed: false })).catch(String);
    expect(error).to.include('Invalid maxfeerate');
  });

  it('is refused if it is switched off', async () => {
    const other = await ServedNode.open({ settings: { 'rest-no-broadcast': true } });
    for (const request of [
      { path: '/api/tx', method: 'POST' },
      { path: '/api/txs/package', method: 'POST' },
      { path: '/api/v1/txs/package', method: 'POST' },
      { path: '/api/broadcast?tx=00' }
    ]) {
      const { status, body } = await other.get('', request);
      expect(`${status} ${body.toString()}`).to.equal('400 This server does not broadcast transactions');
    }
    await other.node.close();
  });
});
