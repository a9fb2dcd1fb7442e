import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { BcoinNode } from '../../lib/node/bcoin';
import { needsNode } from '../support/fleet/fleet';
import { chainWithSpends, mineCoinbases, spend } from '../support/chain/regtest-chain';
import { entryOf, mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { ask } from '../support/client/http';
import { filterFrom } from '../support/index/filters';
import { RpcCaller } from '../support/client/rpc';
import { until } from '../support/expectations/until';
import { bcoin, type HostFullBlock } from '../support/bcoin/bcoin';
import type { HostTransaction } from '../../lib/node/host';

const UNKNOWN = 'ff'.repeat(32);

describe('calls', () => {
  let served: RestNode;
  let caller: RpcCaller;
  /** A transaction of the pool. */
  let pooled: HostTransaction;
  let holding: HostFullBlock;
  let stale: HostFullBlock;
  const displayed = (of: { hash(): Buffer }): string => toDisplayHex(of.hash());
  const rest = async (path: string): Promise<string> => {
    const { status, body } = await ask(served.port, { path: `/rest/${path}` });
    if (status !== 200) throw new Error(`${path}: ${status} ${body.toString()}`);
    return body.toString().slice(0, -1);
  };

  before(async () => {
    served = await openRestNode({ settings: { 'rest-core': 'modern', 'rest-filters': true } });
    caller = new RpcCaller(served.port);
    const { node } = served;
    await node.connect();
    await chainWithSpends(node);
    const [first, second] = (await mineCoinbases(node, 102)) as [HostTransaction, HostTransaction];
    await spend(node, second, 5_000_000_000);
    await spend(node, first, 5_000_000_000);
    const fork = node.chain.tip;
    [stale] = (await mine(node, 1)) as [HostFullBlock];
    [holding] = (await mine(node, 1, fork)) as [HostFullBlock];
    await mine(node, 1, await entryOf(node, holding));
    // A reorganization drops spends of coinbases from the pool.
    pooled = await spend(node, first, 5_000_000_000);
    await untilReady(served);
  });
  after(() => served.node.close());

  it('describe the state of the chain, as REST does', async () => {
    const { tip } = served.node.chain;
    expect(await caller.text('getblockcount')).to.equal(String(tip.height));
    const best = await caller.call<string>('getbestblockhash');
    expect(await caller.call('getblockhash', tip.height)).to.equal(best);
    expect(await caller.text('getblockchaininfo')).to.equal(await rest('chaininfo.json'));
    for (const height of [-1, tip.height + 1])
      expect(await caller.failure('getblockhash', [height])).to.deep.equal({ code: -8, message: 'Block height out of range' });
  });

  it('know the tips of all branches', async () => {
    const { tip } = served.node.chain;
    // bcoin 1.0.2 forgets that it connected a block.
    const status = (await new BcoinNode(served.node).spentCoins(stale.hash())) === undefined ? 'valid-headers' : 'valid-fork';
    expect(await caller.call('getchaintips')).to.deep.equal([
      { height: tip.height, hash: await caller.call('getbestblockhash'), branchlen: 0, status: 'active' },
      { height: tip.height - 1, hash: displayed(stale), branchlen: 1, status }
    ]);
  });

  it('give headers as REST does, and those of stale blocks', async () => {
    const hash = displayed(holding);
    expect(`[${await caller.text('getblockheader', hash)}]`).to.equal(await rest(`headers/1/${hash}.json`));
    expect(await caller.call('getblockheader', hash, false)).to.equal(holding.toRaw().subarray(0, 80).toString('hex'));
    const { nextblockhash, confirmations, ...ofActive } = await caller.call<Record<string, unknown>>('getblockheader', hash);
    const ofStale = await caller.call<Record<string, unknown>>('getblockheader', displayed(stale));
    expect([confirmations, ofStale['confirmations'], typeof nextblockhash]).to.deep.equal([2, -1, 'string']);
    expect(Object.keys(ofStale).filter((key) => key !== 'confirmations')).to.deep.equal(Object.keys(ofActive));
    const { chainwork, nTx, previousblockhash } = ofStale;
    expect({ chainwork, nTx, previousblockhash }).to.deep.equal({
      ...pick(ofActive, 'chainwork', 'previousblockhash'),
      nTx: stale.txs.length
    });
    expect(await caller.call('getblockheader', displayed(stale), false)).to.equal(stale.toRaw().subarray(0, 80).toString('hex'));
    for (const params of [[UNKNOWN], [UNKNOWN, false]])
      expect(await caller.failure('getblockheader', params)).to.deep.equal({ code: -5, message: 'Block not found' });
    expect(await caller.failure('getblockheader', ['00'])).to.deep.equal({
      code: -8,
      message: "hash must be of length 64 (not 2, for '00')"
    });
  });

  it('give blocks in four levels of detail', async () => {
    const spends = displayed(await served.node.chain.getEntryByHeight(106).then((entry) => ({ hash: () => asBuffer(entry?.hash) })));
    for (const hash of [displayed(holding), displayed(stale), spends]) {
      expect(await caller.call('getblock', hash, 0)).to.equal(await rest(`block/${hash}.hex`));
      expect(await caller.call('getblock', hash, false)).to.equal(await rest(`block/${hash}.hex`));
      for (const params of [[], [1], [true], [null]])
        expect(await caller.text('getblock', hash, ...params)).to.equal(await rest(`block/notxdetails/${hash}.json`));
      const most = await caller.text('getblock', hash, 3);
      expect(most).to.equal(await rest(`block/${hash}.json`));
      const some = JSON.parse(most) as { tx: { vin: Record<string, unknown>[] }[] };
      for (const { vin } of some.tx) for (const input of vin) delete input['prevout'];
      expect(await caller.call('getblock', hash, 2)).to.deep.equal(some);
    }
    expect(await caller.text('getblock', spends, 2))
      .to.match(/"fee":0\.00010000,"hex"/)
      .and.not.include('prevout');
    expect(await caller.failure('getblock', [UNKNOWN])).to.deep.equal({ code: -5, message: 'Block not found' });
  });

  it('give transactions of the pool, of the chain and of a block', async () => {
    const txid = displayed(pooled);
    expect(await caller.call('getrawtransaction', txid)).to.equal(pooled.toRaw().toString('hex'));
    for (const verbosity of [1, true, 2])
      expect(await caller.text('getrawtransaction', txid, verbosity)).to.equal(
        `{"vsize_adjusted":${Math.ceil(pooled.getWeight() / 4)},${(await rest(`tx/${txid}.json`)).slice(1)}`
      );
    const block = await served.node.chain.getEntryByHeight(105);
    const hash = toDisplayHex(asBuffer(block?.hash));
    const [coinbase = '', spending = ''] = (await caller.call<{ tx: string[] }>('getblock', hash)).tx;
    const height = served.node.chain.tip.height;
    const { blockhash, hex, ...shown } = JSON.parse(await rest(`tx/${spending}.json`)) as Record<string, unknown>;
    const expected = { ...shown, hex, blockhash, confirmations: height - 104, time: block?.time, blocktime: block?.time };
    expect(await caller.text('getrawtransaction', spending, 1)).to.equal(
      amounts(JSON.stringify(expected), await rest(`tx/${spending}.json`))
    );
    const named = await caller.call<Record<string, unknown>>('getrawtransaction', spending, 1, hash);
    expect(Object.keys(named)[0]).to.equal('in_active_chain');
    expect(named).to.deep.equal({ in_active_chain: true, ...expected });
    const inBlock = (await caller.call<{ tx: { txid: string; vin: unknown; fee: number }[] }>('getblock', hash, 3)).tx;
    for (const params of [[2], [2, hash]]) {
      for (const { txid: each, vin, fee } of inBlock)
        expect(pick(await caller.call<Record<string, unknown>>('getrawtransaction', each, ...params), 'vin', 'fee')).to.deep.equal({
          vin,
          fee
        });
    }
    expect(await caller.call('getrawtransaction', coinbase, 0, hash)).to.be.a('string');
    const ofStale = await caller.call<Record<string, unknown>>(
      'getrawtransaction',
      displayed(stale.txs[0] as HostTransaction),
      1,
      displayed(stale)
    );
    expect(pick(ofStale, 'in_active_chain', 'confirmations', 'time')).to.deep.equal({
      in_active_chain: false,
      confirmations: 0,
      time: undefined
    });
    const more = '. Use gettransaction for wallet transactions.';
    const failures: readonly [params: unknown[], code: number, message: string][] = [
      [[UNKNOWN], -5, `No such mempool or blockchain transaction${more}`],
      [[txid, 0, hash], -5, `No such transaction found in the provided block${more}`],
      [[txid, 0, UNKNOWN], -5, 'Block hash not found'],
      [['x'], -8, "parameter 1 must be of length 64 (not 1, for 'x')"],
      [
        ['4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b'],
        -5,
        'The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved'
      ]
    ];
    for (const [params, code, message] of failures)
      expect(await caller.failure('getrawtransaction', params)).to.deep.equal({ code, message });
  });

  it('give unspent outputs', async () => {
    const txid = displayed(pooled);
    const bestblock = await caller.call('getbestblockhash');
    const coin = await caller.call<Record<string, unknown>>('gettxout', txid, 0);
    expect(coin).to.deep.include({ bestblock, confirmations: 0, coinbase: false });
    expect(Object.keys(coin)).to.deep.equal(['bestblock', 'confirmations', 'value', 'scriptPubKey', 'coinbase']);
    expect(await caller.text('gettxout', txid, 0, false)).to.equal('null');
    expect(await caller.text('gettxout', txid, 9)).to.equal('null');
    const spent = pooled.inputs[0]?.prevout;
    const parent = [toDisplayHex(asBuffer(spent?.hash)), spent?.index];
    expect(await caller.text('gettxout', ...parent)).to.equal('null');
    expect(await caller.call('gettxout', ...parent, false)).to.deep.include({ coinbase: true });
    expect(await caller.failure('gettxout', [txid, -1])).to.deep.equal({ code: -1, message: 'JSON integer out of range' });
  });

  it('show the pool as REST does', async () => {
    const txid = displayed(pooled);
    expect(await caller.text('getmempoolinfo')).to.equal(await rest('mempool/info.json'));
    expect(await caller.text('getrawmempool')).to.equal(await rest('mempool/contents.json?verbose=false'));
    expect(await caller.text('getrawmempool', false, true)).to.equal(
      await rest('mempool/contents.json?verbose=false&mempool_sequence=true')
    );
    const contents = await caller.text('getrawmempool', true);
    expect(contents).to.equal(await rest('mempool/contents.json'));
    expect(contents).to.include(`"${txid}":${await caller.text('getmempoolentry', txid)}`);
    expect(await caller.failure('getmempoolentry', [UNKNOWN])).to.deep.equal({ code: -5, message: 'Transaction not in mempool' });
    expect(await caller.failure('getrawmempool', [true, true])).to.deep.equal({
      code: -8,
      message: 'Verbose results cannot contain mempool sequence values.'
    });
  });

  it('give filters with their headers, those of stale blocks too', async function () {
    needsNode(this, 'a reader need not have seen a block that soon left the chain');
    const hash = displayed(holding);
    const filter = await caller.call<{ filter: string; header: string }>('getblockfilter', hash);
    expect(filter.filter).to.equal((JSON.parse(await rest(`blockfilter/basic/${hash}.json`)) as { filter: string }).filter);
    expect([filter.header]).to.deep.equal(JSON.parse(await rest(`blockfilterheaders/basic/1/${hash}.json`)));
    expect((await caller.call<{ header: string }>('getblockfilter', displayed(stale), 'basic')).header)
      .to.match(/^[0-9a-f]{64}$/)
      .and.not.equal(filter.header);
    expect(await caller.failure('getblockfilter', [hash, 'v0'])).to.deep.equal({ code: -5, message: 'Unknown filtertype' });
    expect(await caller.failure('getblockfilter', [UNKNOWN])).to.deep.equal({ code: -5, message: 'Block not found' });
    const { height } = served.node.chain.tip;
    expect(await caller.call('getindexinfo')).to.deep.equal({
      txindex: { synced: true, best_block_height: height },
      'basic block filter index': { synced: true, best_block_height: height }
    });
    expect(await caller.call('getindexinfo', 'txindex')).to.have.all.keys('txindex');
    expect(await caller.text('getindexinfo', 'nothing')).to.equal('{}');
  });

  it('describe the node', async () => {
    const info = await caller.call<Record<string, unknown>>('getnetworkinfo');
    expect(info).to.deep.include({
      version: 319_900,
      connections: 0,
      networkactive: true,
      localservicesnames: ['NETWORK', 'WITNESS'],
      warnings: []
    });
    expect(info['subversion']).to.match(/^\/bcoin:v?\d+\.\d+\.\d+\/bcoin-rest:\d+\.\d+\.\d+\/$/);
    expect(await caller.text('getnetworkinfo')).to.include('"relayfee":0.00001000,');
    expect(await caller.call('getzmqnotifications')).to.deep.equal([]);
    expect(await caller.call('uptime')).to.be.a('number');
  });

  it('say what is missing when there is no index by script', async () => {
    const none = await caller.call<Record<string, unknown>>('gettxoutsetinfo', 'none');
    expect(none).to.deep.include({ height: served.node.chain.tip.height, bestblock: await caller.call('getbestblockhash') });
    expect(none['txouts']).to.be.a('number').above(100);
    for (const block of [1, 'x', []])
      expect(await caller.failure('gettxoutsetinfo', ['none', block])).to.deep.equal({
        code: -8,
        message: 'Querying specific block heights requires coinstatsindex'
      });
    expect(await caller.failure('gettxoutsetinfo')).to.deep.equal({
      code: -1,
      message: 'the hash of all coins needs the txids of the index by script (--rest-addresses)'
    });
    expect(await caller.failure('scantxoutset', ['start', ['raw(51)']])).to.deep.equal({
      code: -1,
      message: 'scantxoutset needs the index by script (--rest-addresses)'
    });
  });

  it('read bytes that have two forms as the one whose scripts can be run', async () => {
    // An input with this script and a witness; and no input, and an output whose script pushes what follows.
    const bytesWith = (opcode: string): string =>
      `02000000000101000000000000002f4c2d${'00'.repeat(26)}01${opcode}ffffffff0100000000000000000001015500000000`;
    const txid = async (...params: unknown[]): Promise<string> =>
      (await caller.call<{ txid: string }>('decoderawtransaction', ...params)).txid;
    const [invalid, valid] = [bytesWith('ff'), bytesWith('51')];
    expect(await txid(invalid)).to.equal('c291da560d2226b2641fbc837acc1205178781bb4a9652cbf0a1591aa814b3fd');
    expect(await txid(invalid)).to.equal(await txid(invalid, false));
    expect(await txid(invalid, true)).to.equal('935e97237f5dd22a6047824250a731a0e4f3361c66b13ae2cc10c6a6f5cbb0f8');
    expect(await txid(valid)).to.equal(await txid(valid, true));
    expect(await caller.call('decoderawtransaction', '02000000000000000000', true)).to.include({ size: 10, locktime: 0 });
  });

  it('are bounded', async () => {
    const outpoint = { txid: UNKNOWN, vout: 0 };
    expect(await caller.call('gettxspendingprevout', Array<unknown>(10_000).fill(outpoint))).to.have.length(10_000);
    for (const [method, params] of [
      ['gettxspendingprevout', [Array<unknown>(10_001).fill(outpoint)]],
      ['scantxoutset', ['start', Array<unknown>(10_001).fill('raw(51)')]],
      ['scantxoutset', ['start', [`raw(${'51'.repeat(100_005)})`]]],
      ['decodescript', ['51'.repeat(100_001)]],
      ['decoderawtransaction', ['00'.repeat(4_000_001)]],
      ['decoderawtransaction', [transactionOf(1_000_001)]],
      ['converttopsbt', [transactionOf(1_000_001)]],
      ['gettxoutproof', [Array.from({ length: 16_667 }, (_, i) => i.toString(16).padStart(64, '0'))]]
    ] as const)
      expect((await caller.failure(method, params)).code, method).to.be.oneOf([-5, -8, -22]);
    expect(await caller.call('decoderawtransaction', transactionOf(1_000_000))).to.include({ weight: 4_000_000 });
    const large = await spend(served.node, pooled, Math.floor(pooled.outputs[0]?.value ?? 0), 40);
    const spent = { txid: displayed(pooled), vout: 0 };
    const spender = { ...spent, spendingtxid: displayed(large), spendingtx: large.toRaw().toString('hex') };
    expect(await caller.call('gettxspendingprevout', [spent], { return_spending_tx: true })).to.deep.equal([spender]);
    expect(await caller.failure('gettxspendingprevout', [Array<unknown>(10_000).fill(spent), { return_spending_tx: true }])).to.deep.equal({
      code: -1,
      message: 'The spending transactions would take more than 8000000 bytes'
    });
  });

  it('look at all outpoints before they say that the chain cannot be asked', async () => {
    const outpoint = { txid: UNKNOWN, vout: 0 };
    const failure = (...outpoints: unknown[]): Promise<{ code: number; message: string }> =>
      caller.failure('gettxspendingprevout', [outpoints, { mempool_only: false }]);
    expect(await failure(outpoint)).to.deep.equal({
      code: -1,
      message: 'Mempool lacks a relevant spend, and txospenderindex is unavailable.'
    });
    expect(await failure(outpoint, { ...outpoint, vout: null })).to.deep.equal({ code: -3, message: 'Missing vout' });
    expect(await failure(outpoint, { ...outpoint, vout: -1 })).to.include({ code: -8 });
  });

  it('say what they were given, how they are called, and which of them are under way', async () => {
    expect(await caller.call('echo', 1, 'a', null)).to.deep.equal([1, 'a', null]);
    expect(await caller.call('help', 'getblockhash')).to.match(/^getblockhash height\n\n/);
    expect(await caller.text('echo', 'a\u007f')).to.equal('["a\\u007f"]');
    expect(await caller.call('help', 'nothing')).to.equal('help: unknown command: nothing');
    expect(await caller.failure('help', [null])).to.deep.equal({
      code: -3,
      message: 'JSON value of type null is not of expected type string'
    });
    const { active_commands: active } = await caller.call<{ active_commands: { method: string; duration: number }[] }>('getrpcinfo');
    expect(active.map(({ method }) => method)).to.deep.equal(['getrpcinfo']);
  });

  it('give no fee estimate without data, and refuse what Bitcoin Core refuses', async () => {
    for (const params of [[6, 'ECONOMICAL'], [1], [1_008, 'unset'], [6, null]])
      expect(await caller.call('estimatesmartfee', ...params)).to.deep.equal({
        errors: ['Insufficient data or no feerate found'],
        blocks: 0
      });
    for (const target of [0, 1_009])
      expect(await caller.failure('estimatesmartfee', [target])).to.deep.equal({
        code: -8,
        message: 'Invalid conf_target, must be between 1 and 1008'
      });
    expect(await caller.failure('estimatesmartfee', [6, 'cheap'])).to.deep.equal({
      code: -8,
      message: 'Invalid estimate_mode parameter, must be one of: "unset", "economical", "conservative"'
    });
  });

  it('count a branch of blocks that spend nothing as a valid one, and make their filters', async () => {
    const { node } = served;
    // It takes what is in the pool.
    await mine(node, 1);
    const fork = node.chain.tip;
    const [old] = (await mine(node, 1)) as [HostFullBlock];
    const [other] = (await mine(node, 1, fork)) as [HostFullBlock];
    await mine(node, 1, await entryOf(node, other));
    await untilReady(served);
    const tips = await caller.call<{ hash: string; status: string }[]>('getchaintips');
    expect(tips.find(({ hash }) => hash === displayed(old))).to.have.property('status', 'valid-fork');
    const { filter, header } = await caller.call<Record<string, string>>('getblockfilter', displayed(old));
    expect(filter).to.equal(filterFrom(old.toRaw(), []).toString('hex'));
    expect(header).to.match(/^[0-9a-f]{64}$/);
  });

  it('wait for the next block, or until the timeout', async () => {
    const best = await caller.call<string>('getbestblockhash');
    expect(await caller.call('waitfornewblock', 1)).to.deep.equal({ hash: best, height: served.node.chain.tip.height });
    expect(await caller.call('waitfornewblock', 0, UNKNOWN)).to.deep.include({ hash: best });
    expect(await caller.failure('waitfornewblock', [-1])).to.deep.equal({ code: -1, message: 'Negative timeout' });
    const waiting = caller.call('waitfornewblock', 0, best);
    await mine(served.node, 1);
    expect(await waiting).to.deep.include({ height: served.node.chain.tip.height });
  });

  it('are made in the order of their batch, those that wait among them', async () => {
    const { height } = served.node.chain.tip;
    const address = bcoin.KeyRing.generate().getAddress('string', 'regtest');
    const { body } = await caller.post(
      JSON.stringify([
        { method: 'getblockcount', id: 1 },
        { method: 'generatetoaddress', params: [1, address], id: 2 },
        { method: 'waitforblockheight', params: [height + 1], id: 3 },
        { method: 'gettxoutsetinfo', params: ['none'], id: 4 },
        { method: 'generatetoaddress', params: [1, address], id: 5 },
        { method: 'waitforblockheight', params: [height + 2], id: 6 },
        { method: 'getblockcount', id: 7 }
      ])
    );
    const results = (JSON.parse(body.toString()) as { result: unknown }[]).map(({ result }) => result);
    expect(results[0]).to.equal(height);
    for (const at of [2, 3]) expect(results[at]).to.deep.include({ height: height + 1 });
    expect(results[5]).to.deep.include({ height: height + 2 });
    expect(results[6]).to.equal(height + 2);
  });

  it('hold no slot while they wait, and end with the server', async () => {
    // A queue that a few calls would fill: when the node stops, a busy machine has a second and a half for all replies.
    const own = await openRestNode({ settings: { 'rest-core': 'modern', 'rest-threads': 1, 'rest-work-queue': 1 } });
    await untilReady(own);
    const ofNode = new RpcCaller(own.port);
    const waiting = Array.from({ length: 5 }, () => ofNode.post('{"method":"waitfornewblock","id":1}'));
    waiting.push(ofNode.post(`[${Array(50).fill('{"method":"waitfornewblock"}').join(',')}]`));
    const best = await ofNode.call<string>('getbestblockhash');
    // Those of a batch take turns.
    await until(async () => (await ofNode.active('waitfornewblock')) === waiting.length);
    await own.node.close();
    for (const { status, body } of await Promise.all(waiting)) {
      expect(status).to.equal(200);
      expect(body.toString()).to.include(best);
    }
  });
});

/** In hex: a transaction of so many bytes, most of which are the script of its output. */
function transactionOf(bytes: number): string {
  const script = Buffer.alloc(bytes - 64, 0x51);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(script.length);
  return `0200000001${'00'.repeat(41)}01${'00'.repeat(8)}fe${length.toString('hex')}${script.toString('hex')}${'00'.repeat(4)}`;
}

function asBuffer(hash: string | Buffer | undefined): Buffer {
  if (hash === undefined) throw new Error('expected a hash');
  return typeof hash === 'string' ? Buffer.from(hash, 'hex') : hash;
}

function pick(from: Record<string, unknown>, ...keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, from[key]]));
}

/** The text with its amounts written as in another text. */
function amounts(text: string, as: string): string {
  const written = [...as.matchAll(/"value":([\d.]+)/g)].map(([, amount = '']) => amount);
  return text.replace(/"value":[\d.e-]+/g, () => `"value":${written.shift() ?? ''}`);
}
