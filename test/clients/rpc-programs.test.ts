// What servers and Lightning nodes ask over JSON-RPC, with the fields that each of them reads; docs/clients.md says which they are.

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scanTransaction } from '../../lib/bitcoin/transaction';
import { chainAManifest, chainAPool } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS } from '../support/node/chain-a-node';
import { basic, RpcCaller } from '../support/client/rpc';
import { ACCOUNT, MODERN, openClientNode } from './client-node';
import type { RestNode } from '../support/node/rest-node';

type Kind = 'number' | 'string' | 'boolean' | 'array' | 'object' | 'null';

/** Of the result itself, or of its fields by their paths. */
type Read = Kind | Readonly<Record<string, Kind>>;

interface Request {
  readonly method: string;
  readonly params?: readonly unknown[] | Readonly<Record<string, unknown>>;
  readonly reads: Read;
}

const { tip, height, outpoints, blocks } = chainAManifest();
const { hash = '' } = blocks['same-block'] ?? {};
const { txid = '', vout = 0 } = outpoints['cb-unspent'] ?? {};
const coin = { txid, vout };
const [raw = Buffer.alloc(0)] = chainAPool();
const pooled = toDisplayHex(scanTransaction(raw).txid);
const script = '76a91452baebc2120216ac153a95fe52cc102ae92c62e088ac';

const CHAIN = { chain: 'string', blocks: 'number', headers: 'number', bestblockhash: 'string', initialblockdownload: 'boolean' } as const;
const HEADER = { hash: 'string', height: 'number', previousblockhash: 'string', confirmations: 'number', time: 'number' } as const;
const OUTPUT = { value: 'number', confirmations: 'number', 'scriptPubKey.hex': 'string', coinbase: 'boolean' } as const;
const FEES = { 'fees.base': 'number', 'fees.ancestor': 'number', 'fees.descendant': 'number', 'fees.modified': 'number' } as const;

/** By program; the commits are those of docs/clients.md. */
const PROGRAMS: Readonly<Record<string, readonly Request[]>> = {
  'NBXplorer (NBitcoin)': [
    { method: 'getnetworkinfo', reads: { version: 'number', subversion: 'string', relayfee: 'number', incrementalfee: 'number' } },
    { method: 'getblockchaininfo', reads: { ...CHAIN, verificationprogress: 'number', mediantime: 'number', pruned: 'boolean' } },
    { method: 'getindexinfo', reads: { 'txindex.synced': 'boolean', 'txindex.best_block_height': 'number' } },
    { method: 'getpeerinfo', reads: 'array' },
    { method: 'getbestblockhash', reads: 'string' },
    { method: 'getblockhash', params: [1], reads: 'string' },
    { method: 'getblockheader', params: [tip], reads: HEADER },
    { method: 'getblockheader', params: [tip, false], reads: 'string' },
    { method: 'getrawtransaction', params: [coin.txid, true], reads: { hex: 'string', blockhash: 'string', confirmations: 'number' } },
    { method: 'gettxout', params: [coin.txid, coin.vout, true], reads: OUTPUT },
    { method: 'getmempoolinfo', reads: { mempoolminfee: 'number', minrelaytxfee: 'number', size: 'number' } },
    { method: 'estimatesmartfee', params: [6, 'CONSERVATIVE'], reads: { blocks: 'number' } },
    { method: 'testmempoolaccept', params: [[raw.toString('hex')]], reads: { '0.allowed': 'boolean', '0.reject-reason': 'string' } },
    {
      method: 'scantxoutset',
      params: ['start', [{ desc: `raw(${script})` }]],
      reads: {
        success: 'boolean',
        txouts: 'number',
        total_amount: 'number',
        'unspents.0.txid': 'string',
        'unspents.0.vout': 'number',
        'unspents.0.scriptPubKey': 'string',
        'unspents.0.amount': 'number',
        'unspents.0.height': 'number'
      }
    },
    { method: 'scantxoutset', params: ['status'], reads: 'null' },
    { method: 'scantxoutset', params: ['abort'], reads: 'boolean' }
  ],
  'Core Lightning, bcli': [
    { method: 'echo', reads: 'array' },
    { method: 'getnetworkinfo', reads: { version: 'number', localrelay: 'boolean' } },
    { method: 'getblockchaininfo', reads: CHAIN },
    { method: 'getblockhash', params: [height], reads: 'string' },
    { method: 'getblock', params: [hash, 0], reads: 'string' },
    { method: 'gettxout', params: [coin.txid, coin.vout], reads: { value: 'number', 'scriptPubKey.hex': 'string' } },
    { method: 'estimatesmartfee', params: [2, 'CONSERVATIVE'], reads: { blocks: 'number' } },
    { method: 'estimatesmartfee', params: [100, 'ECONOMICAL'], reads: { blocks: 'number' } },
    { method: 'getmempoolinfo', reads: { mempoolminfee: 'number', minrelaytxfee: 'number' } },
    { method: 'getpeerinfo', reads: 'array' }
  ],
  'Eclair, without its wallet': [
    { method: 'getblockchaininfo', reads: { ...CHAIN, mediantime: 'number', verificationprogress: 'number' } },
    { method: 'getnetworkinfo', reads: { version: 'number' } },
    { method: 'getblockcount', reads: 'number' },
    { method: 'getblockhash', params: [height], reads: 'string' },
    { method: 'getblock', params: [hash], reads: { height: 'number', tx: 'array' } },
    { method: 'getblock', params: [hash, 0], reads: 'string' },
    { method: 'getrawtransaction', params: [coin.txid], reads: 'string' },
    { method: 'getrawtransaction', params: [coin.txid, 1], reads: { confirmations: 'number', blockhash: 'string' } },
    { method: 'gettxout', params: [coin.txid, coin.vout, false], reads: OUTPUT },
    { method: 'getrawmempool', reads: 'array' },
    { method: 'getmempoolinfo', reads: { mempoolminfee: 'number' } },
    {
      method: 'getmempoolentry',
      params: [pooled],
      reads: {
        ...FEES,
        vsize: 'number',
        weight: 'number',
        ancestorcount: 'number',
        descendantcount: 'number',
        'bip125-replaceable': 'boolean'
      }
    },
    { method: 'gettxspendingprevout', params: [[coin]], reads: { '0.txid': 'string', '0.vout': 'number' } },
    { method: 'estimatesmartfee', params: [6], reads: { blocks: 'number' } }
  ],
  blockbook: [
    { method: 'getblockchaininfo', reads: { ...CHAIN, difficulty: 'number', size_on_disk: 'number', warnings: 'string' } },
    {
      method: 'getnetworkinfo',
      reads: { version: 'number', subversion: 'string', protocolversion: 'number', timeoffset: 'number', warnings: 'string' }
    },
    { method: 'getbestblockhash', reads: 'string' },
    { method: 'getblockcount', reads: 'number' },
    { method: 'getblockhash', params: { height }, reads: 'string' },
    { method: 'getblockheader', params: { blockhash: hash, verbose: true }, reads: { ...HEADER, nextblockhash: 'string' } },
    { method: 'getblock', params: { blockhash: hash, verbosity: 0 }, reads: 'string' },
    {
      method: 'getblock',
      params: { blockhash: hash, verbosity: 1 },
      reads: {
        ...HEADER,
        tx: 'array',
        size: 'number',
        version: 'number',
        merkleroot: 'string',
        nonce: 'number',
        bits: 'string',
        difficulty: 'number'
      }
    },
    {
      method: 'getblock',
      params: { blockhash: hash, verbosity: 2 },
      reads: { 'tx.0.txid': 'string', 'tx.0.vout.0.scriptPubKey.hex': 'string' }
    },
    { method: 'getrawmempool', reads: 'array' },
    { method: 'getrawtransaction', params: { txid: coin.txid, verbose: false }, reads: 'string' },
    {
      method: 'getrawtransaction',
      params: { txid: coin.txid, verbose: true },
      reads: {
        txid: 'string',
        version: 'number',
        locktime: 'number',
        vin: 'array',
        vout: 'array',
        confirmations: 'number',
        blocktime: 'number'
      }
    },
    {
      method: 'getmempoolentry',
      params: [pooled],
      reads: { ...FEES, vsize: 'number', time: 'number', height: 'number', depends: 'array' }
    },
    { method: 'estimatesmartfee', params: { conf_target: 2, estimate_mode: 'ECONOMICAL' }, reads: { blocks: 'number' } }
  ],
  "mempool's backend": [
    { method: 'getblockchaininfo', reads: CHAIN },
    { method: 'getnetworkinfo', reads: { version: 'number', subversion: 'string' } },
    { method: 'getindexinfo', reads: 'object' },
    { method: 'getblockcount', reads: 'number' },
    { method: 'getbestblockhash', reads: 'string' },
    { method: 'getblockhash', params: [height], reads: 'string' },
    { method: 'getblockheader', params: [hash, false], reads: 'string' },
    { method: 'getblock', params: [hash, 0], reads: 'string' },
    {
      method: 'getblock',
      params: [hash],
      reads: {
        ...HEADER,
        version: 'number',
        bits: 'string',
        nonce: 'number',
        difficulty: 'number',
        merkleroot: 'string',
        nTx: 'number',
        weight: 'number'
      }
    },
    { method: 'getblock', params: [hash, 2], reads: { 'tx.0.txid': 'string', 'tx.0.vout.0.scriptPubKey.type': 'string' } },
    {
      method: 'getblockstats',
      params: [hash],
      reads: {
        totalfee: 'number',
        subsidy: 'number',
        feerate_percentiles: 'array',
        utxo_size_inc: 'number',
        medianfee: 'number',
        avgfeerate: 'number'
      }
    },
    { method: 'getrawmempool', reads: 'array' },
    { method: 'getrawmempool', params: [true], reads: 'object' },
    { method: 'getmempoolentry', params: [pooled], reads: { ...FEES, vsize: 'number', weight: 'number', depends: 'array' } },
    {
      method: 'getmempoolinfo',
      reads: { size: 'number', bytes: 'number', usage: 'number', total_fee: 'number', maxmempool: 'number', mempoolminfee: 'number' }
    },
    {
      method: 'getrawtransaction',
      params: [coin.txid, true],
      reads: { hex: 'string', vin: 'array', vout: 'array', confirmations: 'number', blocktime: 'number' }
    },
    { method: 'gettxout', params: [coin.txid, coin.vout, false], reads: OUTPUT },
    { method: 'getnetworkhashps', params: [120, height], reads: 'number' },
    { method: 'getdifficulty', reads: 'number' },
    { method: 'getchaintips', reads: { '0.height': 'number', '0.hash': 'string', '0.branchlen': 'number', '0.status': 'string' } },
    { method: 'validateaddress', params: ['nothing'], reads: { isvalid: 'boolean' } },
    { method: 'gettxoutsetinfo', params: ['none'], reads: { height: 'number', txouts: 'number', total_amount: 'number' } },
    { method: 'testmempoolaccept', params: [[raw.toString('hex')], 0.1], reads: { '0.txid': 'string', '0.allowed': 'boolean' } },
    { method: 'estimatesmartfee', params: [6], reads: { blocks: 'number' } }
  ],
  'Sparrow, without a wallet in the node': [
    { method: 'getnetworkinfo', reads: { version: 'number', subversion: 'string', networkactive: 'boolean' } },
    { method: 'getblockchaininfo', reads: { ...CHAIN, verificationprogress: 'number', pruned: 'boolean' } },
    { method: 'getblockhash', params: { height }, reads: 'string' },
    { method: 'getblockheader', params: { blockhash: hash, verbose: false }, reads: 'string' },
    { method: 'getblockheader', params: { blockhash: hash }, reads: HEADER },
    { method: 'getrawtransaction', params: { txid: coin.txid, verbose: false }, reads: 'string' },
    { method: 'getrawmempool', params: { verbose: true }, reads: 'object' },
    { method: 'getmempoolinfo', reads: { mempoolminfee: 'number', minrelaytxfee: 'number' } },
    { method: 'getmempoolentry', params: { txid: pooled }, reads: { ...FEES, vsize: 'number' } },
    { method: 'estimatesmartfee', params: { conf_target: 6 }, reads: { blocks: 'number' } },
    { method: 'uptime', reads: 'number' }
  ]
};

/** Calls that none of our nodes answers, and which of the programs stop without them. */
const LACKING: readonly (readonly [program: string, call: string])[] = [
  ['NBXplorer, on regtest', 'createwallet'],
  ['Eclair', 'listwallets'],
  ['Eclair', 'fundrawtransaction'],
  ['Sparrow', 'listwalletdir'],
  ['Sparrow', 'importdescriptors']
];

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const at = (value: unknown, path: string): unknown =>
  path.split(/\.(?=[a-z\d])/).reduce<unknown>((inside, name) => (inside as Record<string, unknown> | undefined)?.[name], value);

describe('servers and Lightning nodes over JSON-RPC', () => {
  let served: RestNode;
  let caller: RpcCaller;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openClientNode({ ...MODERN, 'rest-addresses': true, 'rest-deprecated': 'bip125,warnings' });
    caller = new RpcCaller(served.port, basic(`${ACCOUNT.user}:${ACCOUNT.password}`));
  });
  after(() => served.node.close());

  for (const [program, requests] of Object.entries(PROGRAMS))
    it(`${program}: every request has the fields that it reads`, async () => {
      for (const { method, params = [], reads } of requests) {
        const { status, body } = await caller.post(JSON.stringify({ jsonrpc: '1.0', id: 'x', method, params }));
        const { result } = JSON.parse(body.toString()) as { readonly result: unknown };
        const name = `${method} ${JSON.stringify(params).slice(0, 60)}`;
        expect(status, `${name}: ${body.toString().slice(0, 200)}`).to.equal(200);
        const kinds =
          typeof reads === 'string'
            ? kindOf(result)
            : Object.fromEntries(Object.keys(reads).map((path) => [path, kindOf(at(result, path))]));
        expect(kinds, name).to.deep.equal(reads);
      }
    });

  it('calls of a wallet in the node are not there', async () => {
    for (const [program, method] of LACKING)
      expect(await caller.failure(method), program).to.deep.equal({ code: -32_601, message: 'Method not found' });
  });
});
