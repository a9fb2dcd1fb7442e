// What programs that speak to Bitcoin Core ask first, with the checks that each of them makes; docs/clients.md says which they are.

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { hash256, toDisplayHex } from '../../lib/bitcoin/hash';
import { chainAManifest, regtestGenesis } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS } from '../support/node/chain-a-node';
import { ask } from '../support/client/http';
import { ACCOUNT, MODERN, openClientNode } from './client-node';
import type { RestNode } from '../support/node/rest-node';

type Kind = 'number' | 'string' | 'boolean' | 'array' | 'object';

const METHOD_NOT_FOUND = -32_601;
const HEADER_LENGTH = 80;
const UNKNOWN = 'ff'.repeat(32);
const HASH = /^[0-9a-f]{64}$/;

const { height: tipHeight, tip, genesis, blocks, mempool, outpoints } = chainAManifest();
const { hash = '', height } = blocks['same-block'] ?? {};
const neverActive = blocks['stale-1']?.hash ?? '';
const outpointText = (name: string): string => `${outpoints[name]?.txid ?? ''}-${outpoints[name]?.vout ?? 0}`;
const [unspent, spent] = [outpointText('cb-unspent'), outpointText('spent-p2pk')];
const [waiting, another] = mempool.map(({ txid }) => txid);

/** The fields that a program insists on, in its own words. */
function expectFields(value: unknown, fields: Readonly<Record<string, Kind>>): void {
  for (const [name, kind] of Object.entries(fields)) expect(value).to.have.property(name).that.is.a(kind);
}

/** Headers that follow each other, from one that is known by its hash. */
function expectHeaders(bytes: Buffer, count: number, first: string): void {
  expect(bytes).to.have.length(count * HEADER_LENGTH);
  expect(toDisplayHex(hash256(bytes.subarray(0, HEADER_LENGTH)))).to.equal(first);
}

const NUMBERED_HEADER = {
  version: 'number',
  time: 'number',
  nonce: 'number',
  height: 'number',
  bits: 'string',
  chainwork: 'string'
} as const;
const CHAIN_STATE = { chain: 'string', blocks: 'number', headers: 'number', bestblockhash: 'string' } as const;

describe('programs that speak to Bitcoin Core', () => {
  let served: RestNode;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openClientNode({ ...MODERN, 'rest-deprecated': 'bip125,warnings' });
  });

  after(() => served.node.close());

  const get = async (path: string): Promise<Buffer> => {
    const { status, body } = await ask(served.port, { path: `/rest/${path}` });
    expect(status, `${path}: ${body.toString('latin1')}`).to.equal(200);
    return body;
  };

  const getJson = async (path: string): Promise<unknown> => JSON.parse((await get(path)).toString());

  const getText = async (path: string): Promise<string> => (await get(path)).toString().trimEnd();

  const send = async (body: unknown): Promise<unknown> => {
    const login = Buffer.from(`${ACCOUNT.user}:${ACCOUNT.password}`).toString('base64');
    const reply = await ask(served.port, {
      method: 'POST',
      path: '/',
      headers: { Authorization: `Basic ${login}`, 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify(body))
    });
    return JSON.parse(reply.body.toString());
  };

  const call = async (method: string, ...params: readonly unknown[]): Promise<unknown> => {
    const reply = await send({ jsonrpc: '2.0', id: 1, method, params });
    expect(reply, method).to.have.property('result');
    return (reply as { readonly result: unknown }).result;
  };

  const callRefused = async (method: string, ...params: readonly unknown[]): Promise<number> => {
    const reply = await send({ jsonrpc: '2.0', id: 1, method, params });
    expect(reply, method).to.have.nested.property('error.code').that.is.a('number');
    return (reply as { readonly error: { readonly code: number } }).error.code;
  };

  it("LDK's block source takes single headers as JSON", async () => {
    for (const asked of [hash, genesis.hash]) {
      const headers = await getJson(`headers/1/${asked}.json`);
      expect(headers).to.be.an('array').with.length(1);
      expectFields((headers as unknown[])[0], NUMBERED_HEADER);
    }
    expectFields(await getJson('chaininfo.json'), { bestblockhash: 'string', blocks: 'number' });
  });

  it("LDK's source of outputs goes from heights to blocks to coins", async () => {
    expect(toDisplayHex(await get(`blockhashbyheight/${height ?? ''}.bin`))).to.equal(hash);
    const { tx } = (await getJson(`block/notxdetails/${hash}.json`)) as { readonly tx: readonly unknown[] };
    for (const txid of tx) expect(txid).to.match(HASH);
    expect(await getJson(`getutxos/${unspent}.json`)).to.containSubset({ bitmap: '1', utxos: [{ value: 50 }] });
    expect(await getJson(`getutxos/${spent}.json`)).to.containSubset({ bitmap: '0', utxos: [] });
  });

  it('ldk-node asks for the least fee and for txids of the pool, and reads the rest over JSON-RPC', async () => {
    expectFields(await getJson('mempool/info.json'), { mempoolminfee: 'number' });
    expect(await getJson('mempool/contents.json?verbose=false')).to.have.members(mempool.map(({ txid }) => txid));
    expect(await call('getnetworkinfo'))
      .to.have.property('version')
      .that.is.at.least(290_000);
    expectFields(await call('getmempoolentry', waiting), { time: 'number', height: 'number' });
    expectFields(await call('getblockheader', neverActive), NUMBERED_HEADER);
    expect(await call('estimatesmartfee', 6, 'ECONOMICAL')).to.satisfy(({ feerate, errors }: Readonly<Record<string, unknown>>) =>
      errors === undefined ? typeof feerate === 'number' : true
    );
    expect(await callRefused('submitpackage', ['00'])).to.not.equal(METHOD_NOT_FOUND);
  });

  it('bindex takes blocks, spent outputs and parts of blocks by height', async () => {
    expect(toDisplayHex(await get('blockhashbyheight/0.bin'))).to.equal(genesis.hash);
    expect((await get(`spenttxouts/${genesis.hash}.bin`)).toString('hex')).to.equal('0100');
    expect(await get(`blockpart/${genesis.hash}.bin?offset=0&size=${regtestGenesis.length}`)).to.deep.equal(regtestGenesis);
    expectHeaders(await get(`headers/1001/${genesis.hash}.bin`), tipHeight + 1, genesis.hash);
    expect(await get(`headers/1001/${neverActive}.bin`)).to.have.length(0);
  });

  it('electrs reads the pool in batches of JSON-RPC', async () => {
    expectFields(await call('getblockchaininfo'), {
      blocks: 'number',
      headers: 'number',
      initialblockdownload: 'boolean',
      pruned: 'boolean'
    });
    const batch = await send([waiting, another].map((txid, id) => ({ jsonrpc: '2.0', id, method: 'getmempoolentry', params: [txid] })));
    expect(batch).to.be.an('array').with.length(2);
    for (const { result } of batch as { readonly result: unknown }[]) {
      expectFields(result, { vsize: 'number', depends: 'array' });
      expect(result).to.have.nested.property('fees.base').that.is.a('number');
    }
    expectFields(await call('getnetworkinfo'), { relayfee: 'number' });
    expect(await call('getrawtransaction', waiting)).to.match(/^([0-9a-f]{2})+$/);
  });

  it("rust-bitcoincore-rest's declarations hold, with --rest-deprecated=bip125", async () => {
    expectFields(await getJson('chaininfo.json'), { ...CHAIN_STATE, mediantime: 'number', size_on_disk: 'number', pruned: 'boolean' });
    const entries = (await getJson('mempool/contents.json')) as Readonly<Record<string, unknown>>;
    expect(entries).not.to.deep.equal({});
    for (const entry of Object.values(entries)) expectFields(entry, { time: 'number', fees: 'object', 'bip125-replaceable': 'boolean' });
    expect(await get(`blockfilterheaders/basic/5/${hash}.bin`)).to.have.length(5 * 32);
    await get(`blockfilter/basic/${hash}.bin`);
    const sequence = await getJson('mempool/contents.json?mempool_sequence=true&verbose=false');
    expectFields(sequence, { txids: 'array', mempool_sequence: 'number' });
    expectFields(await getJson(`deploymentinfo/${hash}.json`), { deployments: 'object' });
  });

  it('bip300301_enforcer counts headers in the query', async () => {
    expectHeaders(await get(`headers/${hash}.bin?count=100`), 100, hash);
  });

  it('waterfalls begins with the genesis block by its height', async () => {
    expect(await getText('blockhashbyheight/0.hex')).to.equal(genesis.hash);
    expect(await getJson(`headers/${hash}.json?count=1`))
      .to.have.nested.property('[0].nextblockhash')
      .that.matches(HASH);
    expect(await callRefused('sendrawtransaction', '00')).to.not.equal(METHOD_NOT_FOUND);
  });

  it("fbbe's declarations hold", async () => {
    expectHeaders(await get(`headers/101/${genesis.hash}.bin`), 101, genesis.hash);
    expectFields(await getJson('mempool/info.json'), {
      loaded: 'boolean',
      size: 'number',
      usage: 'number',
      total_fee: 'number',
      maxmempool: 'number',
      unbroadcastcount: 'number'
    });
    expectFields(await getJson(`block/notxdetails/${hash}.json`), { tx: 'array', versionHex: 'string', weight: 'number', bits: 'string' });
  });

  it('blindbit-oracle reads warnings as one text, with --rest-deprecated=warnings, and spent outputs', async () => {
    expectFields(await getJson('chaininfo.json'), { ...CHAIN_STATE, warnings: 'string' });
    expect((await get(`spenttxouts/${hash}.bin`))[0]).to.equal(blocks['same-block']?.txs);
  });

  it('block-dn asks for the release and for filters over JSON-RPC', async () => {
    expect(await call('getnetworkinfo'))
      .to.have.property('version')
      .that.is.at.least(300_000);
    expect(await call('getblockheader', hash, false)).to.match(/^[0-9a-f]{160}$/);
    expectFields(await call('getblockfilter', hash, 'basic'), { filter: 'string', header: 'string' });
  });

  it('NBitcoin reads as many bytes as are announced, and texts of errors less two', async () => {
    for (const { path, text } of [
      { path: `block/${UNKNOWN}.bin`, text: `${UNKNOWN} not found` },
      { path: 'block/abc.bin', text: 'Invalid hash: abc' }
    ]) {
      const { headers, body } = await ask(served.port, { path: `/rest/${path}` });
      expect(headers['content-length']).to.equal(String(body.length));
      expect(body.subarray(0, -2).toString()).to.equal(text);
    }
  });

  it('btclib and the electrs of Esplora go from heights to headers', async () => {
    expect(await getJson(`blockhashbyheight/${height ?? ''}.json`)).to.deep.equal({ blockhash: hash });
    expectHeaders(await get(`headers/${hash}.bin?count=1`), 1, hash);
    expectHeaders(await get(`headers/2000/${genesis.hash}.bin`), tipHeight + 1, genesis.hash);
    expect(await call('getzmqnotifications')).to.deep.equal([]);
  });

  it('fork-observer asks who answers and which tips there are', async () => {
    expectFields(await call('getnetworkinfo'), { version: 'number', subversion: 'string', protocolversion: 'number', networks: 'array' });
    const [first] = (await call('getchaintips')) as unknown[];
    expectFields(first, { height: 'number', hash: 'string', branchlen: 'number', status: 'string' });
    expect(await call('getblock', await call('getblockhash', tipHeight), 0)).to.equal(await getText(`block/${tip}.hex`));
  });

  it('explorers and scripts read whole blocks and all headers as JSON', async () => {
    expect(await getJson(`block/${hash}.json`))
      .to.have.nested.property('tx[0].txid')
      .that.matches(HASH);
    expect(await getJson(`headers/2000/${genesis.hash}.json`)).to.have.length(tipHeight + 1);
  });

  it('probes of readiness ask with GET or HEAD', async () => {
    for (const method of ['GET', 'HEAD']) expect((await ask(served.port, { method, path: '/rest/chaininfo.json' })).status).to.equal(200);
  });
});
