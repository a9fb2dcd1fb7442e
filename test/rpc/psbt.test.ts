// PSBTs on their way: created, updated and put together by the node, signed and finalized by another library, and sent.

import { createECDH, randomBytes } from 'node:crypto';
import { p2sh, p2tr, p2wpkh, Transaction, utils } from '@scure/btc-signer';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin, type HostFullBlock, type HostKeyRing } from '../support/bcoin/bcoin';
import { coreRegtestPrefixes } from '../support/chain/chain-a';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { withEarlyForks } from '../support/chain/early-forks';
import { mine, mineOnly } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { RpcCaller } from '../support/client/rpc';
import { signed, type PaidOutput } from '../support/chain/signed';
import type { HostTransaction } from '../../lib/node/host';

const { bech32, pubkeyhash, scripthash } = coreRegtestPrefixes;
const NETWORK = { bech32, pubKeyHash: pubkeyhash, scriptHash: scripthash, wif: 0xef };

/** The public key of a secret. */
function keyOf(secret: Buffer): Buffer {
  const pair = createECDH('secp256k1');
  pair.setPrivateKey(secret);
  return pair.getPublicKey(null, 'compressed');
}

const FEE = 10_000;
const EACH = 1_000_000;

/** Of one call. */
const MOST_LOOKUPS = 1_000;
/** Inputs that spend from one transaction, which has more bytes than a 400th of what they may have together. */
const COPIES = 400;
const LONG_SCRIPT = Buffer.alloc(80_000, 0x6a);

interface Decoded {
  readonly tx?: {
    readonly txid: string;
    readonly version: number;
    readonly locktime: number;
    readonly vin: readonly { readonly txid: string; readonly vout: number }[];
  };
  readonly psbt_version: number;
  readonly inputs: readonly Readonly<Record<string, unknown>>[];
  readonly outputs: readonly Readonly<Record<string, unknown>>[];
  readonly unknown: Readonly<Record<string, string>>;
  readonly fee?: number;
}

describe('PSBTs', () => {
  withEarlyForks();
  const ring: HostKeyRing = bcoin.KeyRing.generate();
  const [a, b, c] = [randomBytes(32), randomBytes(32), randomBytes(32)] as const;
  const [native, wrapped, taproot] = [
    p2wpkh(keyOf(a), NETWORK),
    p2sh(p2wpkh(keyOf(b), NETWORK), NETWORK),
    p2tr(utils.pubSchnorr(c), undefined, NETWORK)
  ] as const;
  let served: RestNode;
  let caller: RpcCaller;
  /** Pays to each of the three scripts, and to the ring. */
  let funding: HostTransaction;
  let fundingId: string;
  /** Has a coinbase of the ring that no other test spends. */
  let spare: HostFullBlock;
  /** In the pool. */
  let pooledId: string;

  before(async () => {
    served = await openRestNode({ settings: { 'rest-core': 'modern', 'rest-pool': 'modern', 'limit-free-relay': 0 } });
    await served.node.connect();
    caller = new RpcCaller(served.port);
    const blocks = await mine(served.node, 120, undefined, ring.getAddress());
    spare = blocks[2] ?? expect.fail('a block');
    const [first, second] = blocks.map(({ txs }) => txs[0] ?? expect.fail('a coinbase'));
    const scripts = [native, wrapped, taproot].map(({ script }) => Buffer.from(script));
    const rest = COINBASE_SATS - scripts.length * EACH - FEE;
    funding = signed(
      ring,
      [first ?? expect.fail('a coinbase')],
      [...scripts.map((script) => [script, EACH] as const), [ring.getAddress(), rest]]
    );
    fundingId = toDisplayHex(funding.hash());
    await served.node.mempool.addTX(funding);
    await mine(served.node, 1);
    const pooled = signed(ring, [second ?? expect.fail('a coinbase')], [[Buffer.from(native.script), EACH]]);
    await served.node.mempool.addTX(pooled);
    pooledId = toDisplayHex(pooled.hash());
    await untilReady(served);
  });
  after(() => served.node.close());

  const create = (outs: readonly number[], version: number, amount = 0.005): Promise<string> =>
    caller.call(
      'createpsbt',
      outs.map((vout) => ({ txid: fundingId, vout })),
      [{ [native.address]: amount }],
      0,
      true,
      2,
      version
    );
  const decode = (psbt: string): Promise<Decoded> => caller.call('decodepsbt', psbt);

  for (const version of [0, 2])
    it(`of version ${version} get what they spend from chain and pool, are signed by two, combined and sent`, async () => {
      const created = await create(version === 0 ? [0] : [1], version);
      const bare = await decode(created);
      expect([bare.psbt_version, bare.fee]).to.deep.equal([version, undefined]);
      const psbt = await caller.call<string>(
        'createpsbt',
        [{ txid: fundingId, vout: version === 0 ? 0 : 1 }, ...(version === 0 ? [] : [{ txid: pooledId, vout: 0 }])],
        [{ [native.address]: 0.005 }],
        ...[0, true, 2, version]
      );
      const updated = await caller.call<string>('utxoupdatepsbt', psbt);
      const { inputs, fee } = await decode(updated);
      expect(fee).to.equal(version === 0 ? 0.005 : 0.015);
      // Of the wrapped one nothing says that it has a witness.
      expect(inputs.map((input) => ['witness_utxo', 'non_witness_utxo'].map((name) => name in input))).to.deep.equal(
        version === 0
          ? [[true, true]]
          : [
              [false, true],
              [true, true]
            ]
      );
      const signers = (version === 0 ? [a] : [a, b]).map((secret) => {
        const transaction = Transaction.fromPSBT(Buffer.from(updated, 'base64'));
        if (version === 2) transaction.updateInput(0, { redeemScript: wrapped.redeemScript });
        transaction.sign(secret);
        return Buffer.from(transaction.toPSBT(version)).toString('base64');
      });
      const together = await caller.call<string>('combinepsbt', signers);
      const all = await decode(together);
      expect(all.inputs.every((input) => 'partial_signatures' in input)).to.equal(true);
      const final = Transaction.fromPSBT(Buffer.from(together, 'base64'));
      final.finalize();
      const finalized = await decode(Buffer.from(final.toPSBT(version)).toString('base64'));
      expect(finalized.inputs.every((input) => 'final_scriptwitness' in input)).to.equal(true);
      expect(await caller.call('sendrawtransaction', final.hex, 0)).to.equal(final.id);
    });

  it('of taproot alone need no whole transactions', async () => {
    const { inputs } = await decode(await caller.call('utxoupdatepsbt', await create([2], 2)));
    expect(inputs.map((input) => ['witness_utxo', 'non_witness_utxo'].map((name) => name in input))).to.deep.equal([[true, false]]);
    const [mixed] = (await decode(await caller.call('utxoupdatepsbt', await create([2, 3], 2)))).inputs;
    expect(Object.keys(mixed ?? {})).to.include.members(['witness_utxo', 'non_witness_utxo']);
  });

  it('stay as they are where nobody has what they spend', async () => {
    const inputs = [{ txid: 'ab'.repeat(32), vout: 0 }];
    const psbt = await caller.call<string>('createpsbt', inputs, []);
    expect(await caller.call('utxoupdatepsbt', psbt)).to.equal(psbt);
    const beyond = await create([99], 2);
    expect(await caller.call('utxoupdatepsbt', beyond)).to.equal(beyond);
    expect(await caller.call('utxoupdatepsbt', psbt, [`addr(${native.address})`, { desc: 'raw(51)', range: 5 }])).to.equal(psbt);
    expect(await caller.failure('utxoupdatepsbt', [psbt, ['wpkh(x)']])).to.include({ code: -5 });
  });

  it('get at most 1,000 transactions, of 32 MB once each input has its copy', async () => {
    const spending = async (inputs: readonly object[]): Promise<string> => await caller.call('createpsbt', inputs, []);
    const unknown = Array.from({ length: MOST_LOOKUPS + 1 }, (_, i) => ({ txid: i.toString(16).padStart(64, '0'), vout: 0 }));
    const most = await spending([...unknown.slice(1), ...unknown.slice(1, 2).map(({ txid }) => ({ txid, vout: 1 }))]);
    expect(await caller.call('utxoupdatepsbt', most)).to.equal(most);
    expect(await caller.failure('utxoupdatepsbt', [await spending(unknown)])).to.deep.equal({
      code: -1,
      message: 'More than 1000 transactions would be looked up'
    });
    const [coinbase] = spare.txs;
    const wide = signed(
      ring,
      [coinbase ?? expect.fail('a coinbase')],
      [[LONG_SCRIPT, 0], ...Array<PaidOutput>(COPIES).fill([ring.getAddress(), 1])]
    );
    await mineOnly(served.node, [wide]);
    const ofWide = Array.from({ length: COPIES }, (_, i) => ({ txid: toDisplayHex(wide.hash()), vout: i + 1 }));
    expect(await caller.failure('utxoupdatepsbt', [await spending(ofWide)])).to.deep.equal({
      code: -1,
      message: 'The transactions would take more than 32000000 bytes'
    });
  });

  it('of several transactions are joined: all inputs and outputs, the highest version, the lowest lock time', async () => {
    const make = (vout: number, locktime: number, version: number): Promise<string> =>
      caller.call('createpsbt', [{ txid: fundingId, vout }], [{ [taproot.address]: 0.001 + vout / 1_000 }], locktime, true, version, 0);
    const parts = [await make(0, 7, 1), await make(1, 5, 3), await make(2, 9, 2)];
    const { tx, inputs, outputs } = await decode(await caller.call('joinpsbts', parts));
    expect([tx?.version, tx?.locktime, inputs.length, outputs.length]).to.deep.equal([3, 5, 3, 3]);
    expect(tx?.vin.map(({ txid, vout }) => `${txid}:${vout}`)).to.have.members([0, 1, 2].map((vout) => `${fundingId}:${vout}`));
    const same = { code: -8, message: `Input ${fundingId}:0 exists in multiple PSBTs` };
    expect(await caller.failure('joinpsbts', [[parts[0], parts[1], parts[0]]])).to.include(same);
    expect(await caller.failure('joinpsbts', [[parts[0], await create([3], 2)]])).to.include({ code: -8 });
    // Another order now and then.
    const orders = new Set<string>();
    for (let i = 0; i < 40 && orders.size < 2; i++) orders.add(await caller.call('joinpsbts', parts));
    expect(orders.size).to.equal(2);
  });

  it('of other transactions are not combined', async () => {
    const [one, other] = [await create([0], 2), await create([0], 2, 0.004)];
    expect(await caller.failure('combinepsbt', [[one, other]])).to.include({ code: -8 });
    expect(await caller.failure('combinepsbt', [[one, await create([0], 0)]])).to.include({ code: -8 });
    expect(await caller.call('combinepsbt', [one, one])).to.equal(one);
  });

  it('come of transactions, with their signatures dropped if that is allowed', async () => {
    const hex = funding.toRaw().toString('hex');
    expect(await caller.failure('converttopsbt', [hex])).to.include({ code: -22 });
    for (const version of [0, 2]) {
      const { psbt_version, outputs } = await decode(await caller.call('converttopsbt', hex, true, null, version));
      expect([psbt_version, outputs.length]).to.deep.equal([version, 4]);
    }
    expect(await caller.failure('converttopsbt', [hex, true, null, 1])).to.include({
      code: -8,
      message: 'The PSBT version can only be 2 or 0'
    });
    // The highest bit of a version is no sign.
    const highest = await caller.call<string>('converttopsbt', `ffffffff${hex.slice(8)}`, true, null, 0);
    expect((await decode(highest)).tx).to.include({ version: 0xffff_ffff });
  });

  it('may be replaced unless the call says otherwise, and cannot if no input allows it', async () => {
    const contradiction = { code: -8, message: 'Invalid parameter combination: Sequence number(s) contradict replaceable option' };
    const input = (vout: number, sequence?: number): object => ({ txid: fundingId, vout, sequence });
    const [final, locking, replaceable] = [0xffff_ffff, 0xffff_fffe, 0xffff_fffd];
    const sequences = async (inputs: readonly object[], ...more: unknown[]): Promise<number[]> => {
      const raw = await caller.call<string>('createrawtransaction', inputs, [], ...more);
      return scanWholeTransaction(Buffer.from(raw, 'hex')).inputs.map(({ sequence }) => sequence);
    };
    expect(await sequences([input(0)])).to.deep.equal([replaceable]);
    expect(await sequences([input(0)], 0, false)).to.deep.equal([final]);
    expect(await sequences([input(0)], 1, false)).to.deep.equal([locking]);
    expect(await sequences([input(0, final)])).to.deep.equal([final]);
    expect(await sequences([input(0, locking), input(1, replaceable)], 0, true)).to.deep.equal([locking, replaceable]);
    expect(await caller.call('createrawtransaction', [], [{ data: '00' }], 0, true)).to.be.a('string');
    for (const inputs of [[input(0, locking)], [input(0, final), input(1, locking)]])
      expect(await caller.failure('createrawtransaction', [inputs, [], 0, true])).to.deep.equal(contradiction);
  });

  it('have no more inputs and outputs than could be in a block', async () => {
    const most = 33_000;
    const inputs = (count: number): unknown[] => [Array(count).fill(0), []];
    expect((await caller.failure('createpsbt', inputs(most))).message).to.include('is not of expected type object');
    expect((await caller.failure('createpsbt', inputs(most + 1))).message).to.equal('Invalid parameter, more than 33000 inputs');
    const outputs = (count: number): unknown[] => [[], Array(count).fill({ x: 1 })];
    expect((await caller.failure('createpsbt', outputs(most))).message).to.equal('Invalid Bitcoin address: x');
    expect((await caller.failure('createpsbt', outputs(most + 1))).message).to.equal('Invalid parameter, more than 33000 outputs');
  });

  it('pay only to addresses of the network, in amounts that are looked at first', async () => {
    const testnet = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
    for (const [amount, failure] of [
      [1, { code: -5, message: `Invalid Bitcoin address: ${testnet}` }],
      [null, { code: -3, message: 'Amount is not a number or string' }],
      ['1.123456789', { code: -3, message: 'Invalid amount' }],
      [-1, { code: -3, message: 'Amount out of range' }]
    ] as const)
      for (const method of ['createrawtransaction', 'createpsbt'])
        expect(await caller.failure(method, [[], { [testnet]: amount }]), method).to.deep.equal(failure);
    expect(await caller.call('createrawtransaction', [], { ' mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn\n': 1 })).to.equal(
      '02000000000100e1f505000000001976a914243f1394f44554f4ce3fd68649c19adc483ce92488ac00000000'
    );
  });

  it('carry data in the shortest push for its length', async () => {
    for (const [length, push] of [
      [75, '4b'],
      [76, '4c4c'],
      [255, '4cff'],
      [256, '4d0001'],
      [65_535, '4dffff'],
      [65_536, '4e00000100']
    ] as const) {
      const raw = await caller.call<string>('createrawtransaction', [{ txid: fundingId, vout: 3 }], {
        [native.address]: 0.1,
        data: 'ab'.repeat(length)
      });
      const { outputs } = scanWholeTransaction(Buffer.from(raw, 'hex'));
      expect(outputs[1]?.script.toString('hex')).to.equal(`6a${push}${'ab'.repeat(length)}`);
    }
  });

  it('carry data in hex, as which other values are read', async () => {
    expect(await caller.call('createrawtransaction', [], [{ data: 12 }])).to.match(/6a0112/);
    for (const [data, shown] of [
      [true, '1'],
      ...[false, null, [], {}, ''].map((value) => [value, ''] as const),
      [1.5, '1.5'],
      [2 ** 64, '18446744073709552000'],
      ['zz', 'zz']
    ] as const)
      expect(await caller.failure('createrawtransaction', [[], [{ data }]])).to.deep.equal({
        code: -8,
        message: `Data must be hexadecimal string (not '${shown}')`
      });
  });
});
