// What a Bitcoin Core 31 answered over chain A, to calls and to requests of every form, is answered to the byte; where it is not, the table
// below says why, and what stands in it does differ.

import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { CALLS } from '../../lib/rpc/call-table';
import { bcoin } from '../support/bcoin/bcoin';
import { jsonIn } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, fillChainAPool, openChainANode } from '../support/node/chain-a-node';
import { isFleetWanted, needsNode } from '../support/fleet/fleet';
import { ask } from '../support/client/http';
import { repliesTo, withoutHelp, type RecordedCall, type RecordedRequest } from '../support/recorded/calls';
import { withCoreAddresses } from '../support/recorded/core';
import { basic, RpcCaller } from '../support/client/rpc';
import type { RestNode } from '../support/node/rest-node';

const ACCOUNT = 'oracle:oracle';

const forgetsSpent = /^v?1\./.test(bcoin.pkg.version);

/** What differs: by the text of the call, or by that of the recorded reply. */
interface Difference {
  readonly method: string;
  readonly call?: RegExp;
  readonly theirs?: RegExp;
  /** Only with this bcoin. */
  readonly only?: boolean;
  readonly why: string;
}

const DIFFERENCES: readonly Difference[] = [
  {
    method: 'getblockhash',
    call: /\[1\.0\]|\[1e1\]|"height":5,"height":6/,
    why: 'JavaScript does not tell 1.0 from 1, and keeps the last of two members'
  },
  { method: 'getblockstats', call: /0ffc21fd/, why: 'a block off the chain with its coinbase alone needs no undo data' },
  { method: 'getblockstats', call: /6367d4c9|4a4dd4df/, only: forgetsSpent, why: 'bcoin 1 has no undo data of blocks off the chain' },
  {
    method: 'getblock',
    call: /(?:6367d4c9|4a4dd4df)\w+",[23]/,
    only: forgetsSpent,
    why: 'bcoin 1 has no undo data of blocks off the chain'
  },
  { method: 'getblockfilter', call: /6367d4c9|4a4dd4df/, only: forgetsSpent, why: 'bcoin 1 has no undo data of blocks off the chain' },
  { method: 'getchaintips', theirs: /branchlen/, why: 'bcoin knows no header without its block, and judges branches otherwise' },
  { method: 'getdeploymentinfo', theirs: /deployments/, why: "soft forks of bcoin's regtest" },
  { method: 'getindexinfo', theirs: /coinstatsindex/, why: 'there is no index of the sums over all coins' },
  { method: 'getmempoolinfo', theirs: /loaded/, why: 'a setting of the recorded node: incrementalrelayfee' },
  { method: 'getmininginfo', theirs: /currentblockweight/, why: 'shown once the node has made a block template' },
  { method: 'getnetworkinfo', theirs: /subversion/, why: 'another node' },
  { method: 'gettxoutproof', call: /853","0{26}/, why: 'Bitcoin Core looks up only the last txid' },
  {
    method: 'gettxoutsetinfo',
    theirs:
      /block_info|hash_serialized_3|after current tip|is negative|Block not found|"hash_or_height must|Cannot set use_index|out of range|UTXO set/,
    why: 'recorded with an index of the sums over all coins; one hash is lacking'
  },
  { method: 'decodescript', call: /x-op-false/, why: 'no miniscript is inferred' },
  { method: 'estimatesmartfee', theirs: /fee_rate_estimator/, why: 'a parameter of Bitcoin Core alone' },
  { method: 'help', theirs: /Blockchain|getblockcount/, why: 'other texts' },
  { method: 'scantxoutset', call: /combo|pkh?\(|tr\(|multi\(/, why: 'descriptors of keys are not understood' },
  { method: 'utxoupdatepsbt', call: /wpkh\(|combo\(/, why: 'descriptors of keys are not understood' }
];

/** Requests that are answered in another form. */
const FORMS: readonly { readonly form: RegExp; readonly why: string }[] = [
  { form: /batch with junk/, why: 'what is no call has no id and no version; Bitcoin Core takes those of the call before' },
  { form: /(?:key|id) twice/, why: 'of two members JavaScript keeps the last' },
  { form: /authorization lower case/, why: 'the name of the scheme may be written in any case' }
];

const records = jsonIn<RecordedCall | RecordedRequest>(join(__dirname, '../vectors/rpc/recorded-31.jsonl.gz'));
const calls = records.filter((record): record is RecordedCall => 'rpc' in record);
const requests = records.filter((record): record is RecordedRequest => 'request' in record);

describe('recorded calls of Bitcoin Core 31', () => {
  let served: RestNode;
  let caller: RpcCaller;
  withCoreAddresses();

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openChainANode({
      'rest-core': 'modern',
      'rest-filters': true,
      'rest-addresses': true,
      'rest-rpc-user': ACCOUNT,
      'api-key': 'a key'
    });
    caller = new RpcCaller(served.port, basic(ACCOUNT));
  });
  after(() => served.node.close());

  const differenceOf = ({ id, rpc, body }: RecordedCall): Difference | undefined =>
    DIFFERENCES.find(
      ({ method, call, theirs, only = true }) => only && method === rpc.method && call?.test(id) !== false && theirs?.test(body) !== false
    );

  /** Calls that are not answered as recorded although they should be, or the other way round. */
  async function wrong(state: RecordedCall['state']): Promise<string[]> {
    const faults: string[] = [];
    for (const record of calls) {
      // A reader has no peers of its own.
      if (record.state !== state || (isFleetWanted && record.rpc.method === 'getpeerinfo')) continue;
      const { ours, theirs } = await repliesTo(record, caller);
      if ((ours === theirs) !== (differenceOf(record) === undefined)) faults.push(`${record.id}\n  ${ours}  ${theirs}`);
    }
    return faults;
  }

  it('are answered with an empty pool', async () => {
    expect(await wrong('confirmed')).to.deep.equal([]);
  });

  it('are answered with transactions in the pool', async () => {
    await fillChainAPool(served.node);
    expect(await wrong('with-mempool')).to.deep.equal([]);
  });

  it('are made as its list of calls says, but for the options of one', async () => {
    const usages = (list: string): ReadonlyMap<string, string> =>
      new Map(list.split('\n').map((line) => [line.split(' ', 1)[0] ?? '', line]));
    const recorded = calls.find(({ rpc: { method, params } }) => method === 'help' && Array.isArray(params) && params.length === 0);
    const theirs = usages((JSON.parse((recorded ?? expect.fail('no list')).body) as { readonly result: string }).result);
    const ours = usages(await caller.call('help'));
    const shared = Array.from(CALLS.keys()).filter((method) => theirs.has(method));
    expect(shared).to.have.length.above(50);
    expect(shared.filter((method) => ours.get(method) !== theirs.get(method))).to.deep.equal(['estimatesmartfee']);
  });

  it('are answered in the form of any request', async function () {
    needsNode(this, 'a reader that passes calls on does not know which there are');
    const faults: string[] = [];
    for (const { id, request, status, body } of requests) {
      const { auth, headers, ...rest } = request;
      const credentials = auth === null ? {} : basic(auth === 'ok' ? ACCOUNT : auth);
      const reply = await ask(served.port, { ...rest, headers: { ...credentials, ...headers }, body: Buffer.from(request.body) });
      const [ours, theirs] = [`${reply.status} ${reply.body.toString()}`, `${status} ${body}`].map(withoutHelp);
      if ((ours === theirs) !== (FORMS.find(({ form }) => form.test(id)) === undefined))
        faults.push(`${id} ${request.body.slice(0, 200)} ${JSON.stringify([auth, headers])}\n  ${ours}  ${theirs}`);
    }
    expect(faults).to.deep.equal([]);
  });
});
