// bitcoin-cli, against our node and against a node of the Bitcoin Core family with the same chain and pool: the fields of each answer and their
// types are the same, or stand in the table. BITCOIND=/path/to/bitcoind BITCOIN_CLI=/path/to/bitcoin-cli; recorded with Bitcoin Knots 29.4.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scanTransaction } from '../../lib/bitcoin/transaction';
import { chainAActiveBlocks, chainABlocks, chainAManifest, chainAPool } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS } from '../support/node/chain-a-node';
import { CoreNode } from '../support/node/core-node';
import { withCoreAddresses } from '../support/recorded/core';
import { ACCOUNT, MODERN, openClientNode } from './client-node';
import type { RestNode } from '../support/node/rest-node';

const { BITCOIND, BITCOIN_CLI } = process.env;

const { mockTime, tip, outpoints } = chainAManifest();

/** As the pool of chain A needs them. */
const FLAGS = [
  ...['-txindex=1', '-blockfilterindex=1', '-acceptnonstdtxn=1', '-minrelaytxfee=0.00001', '-mempoolexpiry=100000', '-persistmempool=0'],
  ...[`-mocktime=${mockTime}`, '-disablewallet', '-printtoconsole=0']
];

const [pooled = Buffer.alloc(0)] = chainAPool();
const waiting = scanTransaction(pooled);
const txid = toDisplayHex(waiting.txid);
const spent = waiting.inputs[0];
const { txid: coinTxid = '', vout = 0 } = outpoints['cb-unspent'] ?? {};
const withSpends = chainAActiveBlocks()[116]?.hash ?? '';
const ADDRESS = 'n4r5cVwWYPToRztoivAXbkoG3YQ2W8fAuz';

/** What is asked, with the arguments as they are typed. */
const CALLS: readonly (readonly string[])[] = [
  ['getbestblockhash'],
  ['getblock', withSpends, '1'],
  ['getblock', withSpends, '2'],
  ['getblock', withSpends, '3'],
  ['getblockchaininfo'],
  ['getblockcount'],
  ['getblockfilter', withSpends],
  ['getblockhash', '100'],
  ['getblockheader', withSpends],
  ['getblockstats', '116'],
  ['getchaintips'],
  ['getchaintxstats'],
  ['getconnectioncount'],
  ['getdeploymentinfo'],
  ['getindexinfo'],
  ['getmempoolancestors', txid, 'true'],
  ['getmempooldescendants', txid, 'true'],
  ['getmempoolentry', txid],
  ['getmempoolinfo'],
  ['getmininginfo'],
  ['getnetworkhashps'],
  ['getnetworkinfo'],
  ['getpeerinfo'],
  ['getrawmempool'],
  ['getrawmempool', 'true'],
  ['getrawtransaction', coinTxid, '2'],
  ['getrawtransaction', txid, '1'],
  ['getrpcinfo'],
  ['gettxout', coinTxid, String(vout)],
  ['gettxoutproof', JSON.stringify([coinTxid])],
  ['gettxoutsetinfo', 'muhash'],
  ['gettxoutsetinfo', 'none'],
  ['gettxspendingprevout', JSON.stringify([{ txid: toDisplayHex(spent?.txid ?? Buffer.alloc(0)), vout: spent?.index }])],
  ['decoderawtransaction', pooled.toString('hex')],
  ['decodescript', '76a91452baebc2120216ac153a95fe52cc102ae92c62e088ac'],
  ['echo', 'a', 'b'],
  ['estimatesmartfee', '6'],
  ['scantxoutset', 'start', JSON.stringify([`addr(${ADDRESS})`])],
  ['testmempoolaccept', JSON.stringify([pooled.toString('hex')])],
  ['uptime'],
  ['validateaddress', ADDRESS],
  ['validateaddress', 'nothing'],
  ['waitforblock', tip],
  ['waitforblockheight', '1'],
  ['-named', 'getblockhash', 'height=100'],
  ['-named', 'getblock', `blockhash=${withSpends}`, 'verbosity=1']
];

interface Difference {
  readonly methods: readonly string[];
  /** The paths of fields that only one of the two has. */
  readonly path: RegExp;
  readonly why: string;
}

const ENTRIES = ['getmempoolentry', 'getrawmempool'];

const DIFFERENCES: readonly Difference[] = [
  { methods: ['getblock'], path: /^\.coinbase_tx/, why: 'since 31' },
  { methods: ['getblock', 'getblockheader'], path: /^\.(?:header_version|txcount):/, why: 'of Knots alone' },
  { methods: ['getblockchaininfo', 'getnetworkinfo', 'getmininginfo'], path: /^\.warnings\[\]: string/, why: 'it has something to say' },
  { methods: ['getmininginfo'], path: /^\.blockmintxfee:/, why: 'since 30' },
  { methods: ['getdeploymentinfo'], path: /^\.(?:script_flags|deployments)/, why: "since 31; bcoin's regtest has other soft forks" },
  { methods: ENTRIES, path: /\.(?:chunkweight|chunk|vsize_adjusted|vsize_bip141):/, why: 'since 31' },
  { methods: ENTRIES, path: /\.(?:startingpriority|currentpriority|hash|bip125-replaceable):/, why: 'of Knots alone, or before 31' },
  { methods: ['getmempoolinfo'], path: /^\.(?:limitcluster\w+|maxdatacarriersize|permitbaremultisig|optimal):/, why: 'since 30 and 31' },
  { methods: ['getmempoolinfo'], path: /^\.(?:dust\w+|\w+_policy|fullrbf|maxmempool):/, why: 'of Knots alone, or before 31' },
  { methods: ['getrawtransaction'], path: /^\.vsize_adjusted:/, why: 'since 31' },
  { methods: ['testmempoolaccept'], path: /^\[\]\.usage:/, why: 'of Knots alone' }
];

type Shape = ReadonlySet<string>;

/** The paths of all fields with their types; items of lists and values under hashes share one path. */
function shapeOf(value: unknown, path = '', into = new Set<string>()): Shape {
  if (Array.isArray(value)) {
    into.add(`${path}[]`);
    for (const item of value) shapeOf(item, `${path}[]`, into);
  } else if (typeof value === 'object' && value !== null) {
    into.add(`${path}{}`);
    for (const [name, member] of Object.entries(value)) shapeOf(member, `${path}.${/^[0-9a-f]{64}$/.test(name) ? '*' : name}`, into);
  } else into.add(`${path}: ${value === null ? 'null' : typeof value}`);
  return into;
}

describe('bitcoin-cli', () => {
  let served: RestNode;
  let node: CoreNode | undefined;
  withCoreAddresses();

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    if (BITCOIND === undefined || BITCOIN_CLI === undefined) {
      console.log('      skipped: BITCOIND and BITCOIN_CLI do not name the programs');
      this.skip();
    }
    served = await openClientNode({ ...MODERN, 'rest-addresses': true });
    node = await CoreNode.start(BITCOIND, FLAGS);
    for (const { raw } of chainABlocks()) await node.rpc.call('submitblock', raw.toString('hex'));
    // Its policy may refuse some of them.
    for (const raw of chainAPool()) await node.rpc.post(JSON.stringify({ method: 'sendrawtransaction', params: [raw.toString('hex'), 0] }));
    expect(await node.rpc.call('getrawmempool')).to.include(txid);
    expect(await node.rpc.call('getbestblockhash')).to.equal(tip);
  });

  after(async () => {
    if (node !== undefined) await served.node.close();
    await node?.stop();
  });

  async function ask(port: number, credentials: string, call: readonly string[]): Promise<unknown> {
    const [user, password] = credentials.split(/:(.*)/s);
    const access = ['-regtest', '-rpcconnect=127.0.0.1', `-rpcport=${port}`, `-rpcuser=${user}`, `-rpcpassword=${password}`];
    const { stdout } = await promisify(execFile)(BITCOIN_CLI ?? '', [...access, ...call], { maxBuffer: 64_000_000 });
    try {
      return JSON.parse(stdout) as unknown;
    } catch {
      return stdout;
    }
  }

  for (const call of CALLS)
    it(`${call.join(' ').slice(0, 80)}: has the fields of Bitcoin Core's answer`, async () => {
      const [ours, theirs] = await Promise.all([
        ask(served.port, `${ACCOUNT.user}:${ACCOUNT.password}`, call),
        ask(node?.rpc.port ?? 0, node?.credentials ?? '', call)
      ]);
      const [a, b] = [shapeOf(ours), shapeOf(theirs)];
      const known = DIFFERENCES.filter(({ methods }) => call.some((word) => methods.includes(word)));
      const differing = [...[...a].filter((path) => !b.has(path)), ...[...b].filter((path) => !a.has(path))];
      expect(differing.filter((one) => !known.some(({ path }) => path.test(one)))).to.deep.equal([]);
    });
});
