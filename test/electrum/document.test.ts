// The description of the Electrum protocol, as `rpc.discover` gives it, held against the table of methods, and against what ElectrumX and
// Fulcrum answered.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scriptHashOf, toDisplayHex } from '../../lib/bitcoin/hash';
import { scanTransaction } from '../../lib/bitcoin/transaction';
import { jsonIn } from '../support/chain/chain-a';
import { DescribedRpc, type RpcDocument } from '../support/client/described-rpc';
import { LineClient } from '../support/client/line-client';
import { MethodCaller } from '../support/node/method-caller';
import { freePort, mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';

const SCRIPT_QUESTIONS = ['get_balance', 'get_history', 'get_mempool', 'listunspent', 'subscribe'] as const;

type RecordedAnswer = { readonly method: string; readonly params?: readonly unknown[]; readonly result?: unknown } & Partial<
  Record<(typeof SCRIPT_QUESTIONS)[number] | 'scripthash', unknown>
>;

interface LiveRun {
  readonly scripts: readonly string[];
  /** `changed`: statuses by the number of the script. */
  readonly steps: readonly { readonly headers: readonly unknown[]; readonly changed: Readonly<Record<string, unknown>> }[];
}

/** What servers say of themselves, each in its own way. */
const OWN_WORDS = ['server.version', 'server.features', 'server.banner', 'server.donation_address', 'server.peers.subscribe'];

/** Methods of which no success is recorded. */
const UNRECORDED = ['server.add_peer', 'rpc.discover'];

/** What is asked of methods of which nothing is recorded: Fulcrum's own, and those of drafts. */
const unrecorded = (txid: string, script: Buffer, raw: string): Readonly<Record<string, readonly unknown[]>> => {
  const [name, spk] = [toDisplayHex(scriptHashOf(script)), script.toString('hex')];
  return {
    'blockchain.headers.get_tip': [],
    'blockchain.transaction.get_height': [txid],
    'blockchain.transaction.get_confirmed_blockhash': [txid, true],
    'blockchain.scripthash.get_first_use': [name],
    'blockchain.scripthash.get_status': [name],
    'blockchain.utxo.get_info': [txid, 0],
    'blockchain.scriptpubkey.get_balance': [spk],
    'blockchain.scriptpubkey.get_history': [spk],
    'blockchain.scriptpubkey.get_mempool': [spk],
    'blockchain.scriptpubkey.listunspent': [spk],
    'blockchain.scriptpubkey.subscribe': [spk],
    'blockchain.scriptpubkey.unsubscribe': [spk],
    'blockchain.outpoint.subscribe': [txid, 0, spk],
    'blockchain.outpoint.get_status': [txid, 0, spk],
    'blockchain.outpoint.unsubscribe': [txid, 0],
    'blockchain.transaction.testmempoolaccept': [[raw]],
    'mempool.recent': []
  };
};

/** What Fulcrum has and the others have not: the coinbase of the genesis block in a history, and a field about the pool. */
const isTheirs = (result: unknown): boolean =>
  JSON.stringify(result).includes('"fullrbf"') ||
  (Array.isArray(result) && result.some((item: object) => 'height' in item && item.height === 0 && !('fee' in item) && !('value' in item)));

const vectors = (name: string): string => join(__dirname, '../vectors/electrum', name);

describe('the description of the Electrum protocol', () => {
  let served: ServedNode;
  let client: LineClient;
  let described: DescribedRpc;

  before(async () => {
    const port = await freePort();
    served = await ServedNode.open({ settings: { 'rest-electrum': port } });
    client = await LineClient.connect(port);
    described = new DescribedRpc((await client.ask('rpc.discover')).result as RpcDocument);
  });
  after(async () => {
    client.socket.destroy();
    await served.close();
  });

  it('has the methods of the table with their parameters, and server.version', () => {
    const { table } = new MethodCaller(served);
    expect([...described.methods.keys()]).to.have.members([...Object.keys(table), 'server.version']);
    for (const [name, method] of Object.entries(table)) {
      const ours = method?.parameters.map((parameter, i) => ({ name: parameter, required: i < method.required }));
      expect(
        described.method(name).params.map((one) => ({ name: one.name, required: one.required })),
        name
      ).to.deep.equal(ours);
    }
  });

  it('has every recorded result, and none of those with a field taken away', () => {
    const faults: string[] = [];
    const names = new Set(OWN_WORDS);
    for (const pair of jsonIn<Readonly<Record<string, RecordedAnswer>>>(vectors('answers.jsonl.gz')))
      for (const answer of Object.values(pair)) {
        const { method, result } = answer;
        const results =
          method === 'scripthash'
            ? SCRIPT_QUESTIONS.map((question) => [`blockchain.scripthash.${question}`, answer[question]] as const)
            : [[method, result] as const];
        for (const [name, one] of results) {
          if (one === undefined || !described.methods.has(name) || OWN_WORDS.includes(name) || isTheirs(one)) continue;
          names.add(name);
          faults.push(...described.faultsIn(name, one).map((fault) => `${fault} ${JSON.stringify(answer.params)}`));
        }
      }
    expect(faults).to.deep.equal([]);
    // Sorted, so that a failure shows the methods that differ and not all of them.
    expect([...described.methods.keys()].filter((name) => !names.has(name)).sort(), 'UNRECORDED and unrecorded()').to.deep.equal(
      [...UNRECORDED, ...Object.keys(unrecorded('', Buffer.alloc(0), ''))].sort()
    );
    expect(described.schemas.taken).to.be.above(3_000);
  });

  it('has every recorded notification', () => {
    const { steps, scripts } = JSON.parse(gunzipSync(readFileSync(vectors('live-run.json.gz'))).toString()) as LiveRun;
    const faults = steps.flatMap(({ headers, changed }) => [
      ...headers.flatMap((header) => described.faultsInNotification('blockchain.headers.subscribe', [header])),
      ...Object.entries(changed).flatMap(([i, status]) =>
        described.faultsInNotification('blockchain.scripthash.subscribe', [scripts[Number(i)], status])
      )
    ]);
    expect(faults).to.deep.equal([]);
    expect(steps).to.have.length.above(50);
  });

  it('has answers of methods of which nothing is recorded', async () => {
    const [block] = await mine(served.node, 1);
    await served.settle();
    const { txid, outputs, raw } = scanTransaction((block?.txs[0] ?? expect.fail('a coinbase')).toRaw());
    const questions = unrecorded(toDisplayHex(txid), outputs[0]?.script ?? expect.fail('an output'), raw.toString('hex'));
    for (const [name, asked] of Object.entries(questions)) {
      const { result } = await client.ask(name, asked);
      expect(result, name).not.to.equal(null);
      expect(described.faultsIn(name, result), name).to.deep.equal([]);
    }
  });

  it('has what the server says of itself', async () => {
    for (const name of [...OWN_WORDS.slice(1), ...UNRECORDED]) {
      const { result } = await client.ask(name, name === 'server.add_peer' ? [{}] : []);
      expect(described.faultsIn(name, result), name).to.deep.equal([]);
    }
    expect(described.faultsIn('server.version', (await client.ask('server.version', ['a test', ['1.4', '1.6']])).result)).to.deep.equal([]);
    expect(described.faultsIn('mempool.get_info', (await client.ask('mempool.get_info')).result)).to.deep.equal([]);
  });
});
