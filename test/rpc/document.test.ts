// The description of JSON-RPC, as `rpc.discover` gives it, held against the table of calls and against what Bitcoin Core 31 answered.

import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { CALLS } from '../../lib/rpc/call-table';
import { jsonIn } from '../support/chain/chain-a';
import { DescribedRpc, type RpcDocument } from '../support/client/described-rpc';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { RpcCaller } from '../support/client/rpc';
import type { RecordedCall, RecordedRequest } from '../support/recorded/calls';

/** A step on a chain with its pool, as far as it is looked at here; some answers are recorded in part. */
interface RecordedStep {
  readonly op: 'tx' | 'package';
  readonly core31: { readonly send: unknown };
}

const vectors = (name: string): string => join(__dirname, '../vectors', name);

/** Results that are described otherwise: of indexes that the service does not have, of the node itself, of descriptors of keys. */
const OTHERS: readonly { readonly method: string; readonly theirs?: RegExp; readonly call?: RegExp }[] = [
  { method: 'getindexinfo', theirs: /coinstatsindex/ },
  { method: 'getmininginfo', theirs: /currentblockweight/ },
  { method: 'getnetworkinfo' },
  { method: 'scantxoutset', call: /"extra"/ },
  { method: 'gettxoutsetinfo', theirs: /block_info|hash_serialized_3/ }
];

/** Calls of which nothing was recorded. */
const UNRECORDED = ['echo', 'submitpackage', 'rpc.discover', 'waitfornewblock'];

const recorded = jsonIn<RecordedCall | RecordedRequest>(vectors('rpc/recorded-31.jsonl.gz')).filter(
  (record): record is RecordedCall => 'rpc' in record
);

describe('the description of JSON-RPC', () => {
  let served: RestNode;
  let caller: RpcCaller;
  let described: DescribedRpc;

  before(async () => {
    served = await openRestNode({ settings: { 'rest-core': 'modern' } });
    await untilReady(served);
    caller = new RpcCaller(served.port);
    described = new DescribedRpc(await caller.call<RpcDocument>('rpc.discover'));
  });
  after(() => served.node.close());

  it('has the calls that are answered here with their parameters, and no others', () => {
    expect([...described.methods.keys()]).to.have.members([...CALLS.keys()]);
    for (const [name, { parameters }] of CALLS) {
      const { params } = described.method(name);
      const ours = parameters.map((one) => ({ name: one.name.split('|')[0], required: one.isOptional !== true }));
      expect(
        params.map((one) => ({ name: one.name, required: one.required })),
        name
      ).to.deep.equal(ours);
      for (const [i, { type, schema }] of parameters.entries()) {
        const types = 'type' in schema ? [schema.type].flat() : [];
        const expected = {
          bool: ['boolean'],
          number: ['integer', 'number'],
          string: ['string'],
          array: ['array'],
          any: types,
          object: ['object']
        }[type];
        for (const one of types) expect(expected, `${name} ${i}`).to.include(one);
      }
    }
  });

  it('has every recorded result and its parameters, and none of those with a field taken away', () => {
    const faults: string[] = [];
    const names = new Set<string>();
    for (const { id, rpc, status, body } of recorded) {
      const { method, params } = rpc;
      names.add(method);
      if (status !== 200) continue;
      const { result } = JSON.parse(body) as { readonly result: unknown };
      if (OTHERS.some((other) => other.method === method && other.theirs?.test(body) !== false && other.call?.test(id) !== false)) continue;
      faults.push(...described.faultsIn(method, result));
      if (Array.isArray(params)) faults.push(...described.faultsInParameters(method, params));
    }
    const steps = jsonIn<RecordedStep>(vectors('pool/steps.jsonl.gz')).filter(({ op }) => op === 'package');
    for (const { core31 } of steps) if (isPackage(core31.send)) faults.push(...described.faultsIn('submitpackage', core31.send));
    expect(faults).to.deep.equal([]);
    // Sorted, so that a failure shows the calls that differ and not all of them.
    expect([...names, ...UNRECORDED].sort(), 'calls that were recorded, and UNRECORDED').to.deep.equal([...CALLS.keys()].sort());
    expect(described.schemas.taken).to.be.above(5_000);
    // Fields that may be lacking and that no recorded result has: without pruning, fee estimates, or locked-in forks there are none.
    const { never } = described.schemas.unproven;
    expect(never).to.deep.equal([
      ...['ChainInfo.automatic_pruning', 'ChainInfo.prune_target_size', 'ChainInfo.pruneheight', 'Deployment(1).height'],
      ...['FeeEstimate.feerate', 'PsbtInput.final_scriptwitness', 'PsbtInput.unknown'],
      ...['PsbtOutput.redeem_script', 'PsbtOutput.unknown', 'PsbtOutput.witness_script'],
      ...['RawTransaction.fee', 'SpentOutpoint.spendingtx', 'Trial(1).package-error', 'Trial(2).package-error']
    ]);
  });

  it('has the node’s answers about itself', async () => {
    for (const name of ['getindexinfo', 'getnetworkinfo', 'uptime', 'getzmqnotifications'])
      expect(described.faultsIn(name, await caller.call(name))).to.deep.equal([]);
  });
});

/** And no error. */
const isPackage = (sent: unknown): boolean => typeof sent === 'object' && sent !== null && 'package_msg' in sent;
