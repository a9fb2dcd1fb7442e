import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { OP_1, OP_CHECKMULTISIG } from '../../lib/bitcoin/script';
import { scanTransaction, WEIGHT_PER_VBYTE } from '../../lib/bitcoin/transaction';
import { Coinbases, COINBASE_SATS, FEE_SATS } from '../support/chain/coinbases';
import { withEarlyForks } from '../support/chain/early-forks';
import { madeTransaction } from '../support/chain/made-blocks';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { RpcCaller } from '../support/client/rpc';
import type { HostTransaction } from '../../lib/node/host';

interface Trial {
  readonly txid: string;
  readonly allowed?: boolean;
  readonly vsize?: number;
  readonly fees?: { readonly base: number };
  readonly 'reject-reason'?: string;
  readonly 'reject-details'?: string;
}

interface SentPackage {
  readonly package_msg: string;
  readonly 'tx-results': Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A locking script with so many bytes of data that nobody can spend. */
function dataOf(length: number): Buffer {
  const [OP_RETURN, OP_PUSHDATA2] = [0x6a, 0x4d];
  return Buffer.concat([Buffer.of(OP_RETURN, OP_PUSHDATA2, length & 0xff, length >> 8), Buffer.alloc(length)]);
}

describe('transactions that are sent', () => {
  withEarlyForks();
  let served: RestNode;
  let caller: RpcCaller;
  let wallet: Coinbases;
  const txidOf = (transaction: HostTransaction): string => toDisplayHex(transaction.hash());
  const hexOf = (transaction: HostTransaction): string => transaction.toRaw().toString('hex');
  const failure = (transaction: HostTransaction, ...more: unknown[]): Promise<{ code: number; message: string }> =>
    caller.failure('sendrawtransaction', [hexOf(transaction), ...more]);

  before(async () => {
    const settings = { 'rest-core': 'modern', 'require-standard': true, 'limit-free-relay': 0 };
    served = await openRestNode({ settings });
    await served.node.connect();
    caller = new RpcCaller(served.port);
    wallet = await Coinbases.mine(served.node, 125);
    await untilReady(served);
  });
  after(() => served.node.close());

  it('enter the pool, and get the same reply when they are sent again', async () => {
    const transaction = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS);
    expect(await caller.call('testmempoolaccept', [hexOf(transaction)])).to.have.length(1);
    expect(await caller.failure('getmempoolentry', [txidOf(transaction)])).to.include({ code: -5 });
    for (let i = 0; i < 2; i++) expect(await caller.call('sendrawtransaction', hexOf(transaction))).to.equal(txidOf(transaction));
    expect(await caller.call('getrawmempool')).to.include(txidOf(transaction));
    const [again] = await caller.call<Trial[]>('testmempoolaccept', [hexOf(transaction)]);
    expect(again).to.deep.include({ allowed: false, 'reject-reason': 'txn-already-in-mempool' });
    await mine(served.node, 1);
    expect(await failure(transaction)).to.deep.equal({ code: -27, message: 'Transaction outputs already in utxo set' });
  });

  it('are mined earlier or later if they are prioritised, with or without what Bitcoin Core ignores', async () => {
    const transaction = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS);
    const txid = await caller.call<string>('sendrawtransaction', hexOf(transaction));
    for (const params of [[txid, null, 100], [txid, 0, 100], { txid, fee_delta: 100 }, { args: [txid], fee_delta: -50 }]) {
      const { body } = await caller.post(JSON.stringify({ method: 'prioritisetransaction', params }));
      expect(JSON.parse(body.toString()), JSON.stringify(params)).to.deep.include({ result: true, error: null });
    }
    const { fees } = await caller.call<{ fees: { base: number; modified: number } }>('getmempoolentry', txid);
    expect(fees).to.deep.include({ base: 0.0001, modified: 0.0001025 });
  });

  it('are refused with the codes and texts of Bitcoin Core', async () => {
    for (const hex of ['', '00', 'zz', hexOf(wallet.paying([wallet.fresh()], 1_000)) + '00'])
      expect(await caller.failure('sendrawtransaction', [hex])).to.deep.equal({
        code: -22,
        message: 'TX decode failed. Make sure the tx has at least one input.'
      });
    const [empty, vinEmpty] = ['02000000000000000000', 'bad-txns-vin-empty'];
    expect(await caller.failure('sendrawtransaction', [empty])).to.deep.equal({ code: -26, message: vinEmpty });
    expect((await caller.call<Trial[]>('testmempoolaccept', [empty]))[0]).to.include({ allowed: false, 'reject-reason': vinEmpty });
    expect(await caller.call('submitpackage', [empty])).to.deep.include({ package_msg: 'conflict-in-package' });
    const coin = wallet.fresh();
    const first = wallet.paying([coin], COINBASE_SATS - FEE_SATS);
    expect(await failure(wallet.paying([first], 1_000_000))).to.deep.equal({ code: -25, message: 'bad-txns-inputs-missingorspent' });
    await caller.call('sendrawtransaction', hexOf(first));
    expect(await failure(wallet.paying([coin], COINBASE_SATS - 2 * FEE_SATS))).to.deep.equal({
      code: -26,
      message: 'txn-mempool-conflict'
    });
    expect(await failure(wallet.paying([wallet.fresh()], COINBASE_SATS + 1))).to.deep.equal({
      code: -26,
      message: 'bad-txns-in-belowout, value in (50.00) < value out (50.00000001)'
    });
    const [{ txs: [tooNew] } = { txs: [] }] = await mine(served.node, 1, undefined, wallet.ring.getAddress());
    const early = wallet.paying([tooNew as HostTransaction], COINBASE_SATS - FEE_SATS);
    const premature = 'bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 1';
    expect(await failure(early)).to.deep.equal({ code: -26, message: premature });
    const [trial] = await caller.call<Trial[]>('testmempoolaccept', [hexOf(early)]);
    expect(trial).to.deep.include({ 'reject-reason': premature.split(',')[0], 'reject-details': premature });
    expect(await failure(wallet.paying([wallet.fresh()], 100), 0)).to.deep.equal({ code: -26, message: 'dust' });
    const broken = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS).toRaw();
    // A byte of the signature.
    broken[60] = (broken[60] as number) ^ 1;
    expect(await caller.failure('sendrawtransaction', [broken.toString('hex')])).to.deep.equal({
      code: -26,
      message: 'mempool-script-verify-flag-failed'
    });
  });

  it('pay neither too much nor too little', async () => {
    const tooMuch = { code: -25, message: 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)' };
    const transaction = wallet.paying([wallet.fresh()], COINBASE_SATS - 3_000_000);
    expect(await failure(transaction)).to.deep.equal(tooMuch);
    expect(await failure(transaction, '0.01')).to.deep.equal(tooMuch);
    expect(await failure(transaction, 1)).to.include({ code: -8 });
    // Any other reason comes first.
    const conflict = { code: -26, message: 'txn-mempool-conflict' };
    const [coin, dear] = [wallet.fresh(), COINBASE_SATS - 1_000_000];
    await caller.call('sendrawtransaction', hexOf(wallet.paying([coin], COINBASE_SATS - FEE_SATS)));
    expect(await failure(wallet.paying([coin], dear), '0.0001')).to.deep.equal(conflict);
    const single = await caller.call<SentPackage>('submitpackage', [hexOf(wallet.paying([wallet.fresh()], dear))], '0.0001');
    expect(single.package_msg).to.equal('transaction failed');
    expect(Object.values(single['tx-results'])[0]).to.have.property('error', 'max feerate exceeded');
    const [trial] = await caller.call<Trial[]>('testmempoolaccept', [hexOf(transaction)]);
    expect(trial).to.deep.include({ allowed: false, 'reject-reason': 'max-fee-exceeded' });
    const free = [wallet.fresh(), wallet.fresh()].map((coin) => wallet.paying([coin], COINBASE_SATS));
    // bcoin accepts transactions without a fee now and then.
    await caller.post(JSON.stringify({ method: 'sendrawtransaction', params: [hexOf(free[0] as HostTransaction)] }));
    expect((await failure(free[1] as HostTransaction)).message).to.match(/^min relay fee not met, 0 < \d+$/);
    const [refused] = await caller.call<Trial[]>('testmempoolaccept', [hexOf(free[1] as HostTransaction)]);
    expect(refused).to.deep.include({ allowed: false, 'reject-reason': 'min relay fee not met' });
    // One of three keys: counts for twenty signature operations, with which the transaction of some 300 bytes counts for 400.
    const key = wallet.ring.getPublicKey();
    const multisig = Buffer.concat([
      Buffer.of(OP_1),
      ...[key, key, key].map((k) => Buffer.concat([Buffer.of(k.length), k])),
      Buffer.of(OP_1 + 2, OP_CHECKMULTISIG)
    ]);
    const manySigops = wallet.paying([wallet.fresh()], COINBASE_SATS - 350, multisig);
    expect(await failure(manySigops)).to.deep.equal({ code: -26, message: 'min relay fee not met, 350 < 400' });
  });

  it('may pay exactly what the call allows, a rate whose fee is rounded up to satoshis', async () => {
    const fee = 1_000_000;
    const transaction = wallet.paying([wallet.fresh()], COINBASE_SATS - fee);
    const size = Math.ceil(scanTransaction(transaction.toRaw()).weight / WEIGHT_PER_VBYTE);
    const rateFor = (satoshis: number): string => (Math.floor((satoshis * 1_000) / size) / 1e8).toFixed(8);
    const tried = async (rate: string): Promise<Trial | undefined> =>
      (await caller.call<Trial[]>('testmempoolaccept', [hexOf(transaction)], rate))[0];
    expect(await tried(rateFor(fee - 1))).to.include({ allowed: false, 'reject-reason': 'max-fee-exceeded' });
    expect(await tried(rateFor(fee))).to.include({ allowed: true });
    expect(await failure(transaction, rateFor(fee - 1))).to.include({ code: -25 });
    expect(await caller.call('sendrawtransaction', hexOf(transaction), rateFor(fee))).to.equal(txidOf(transaction));
    // It is in the pool: what it pays does not matter any more.
    expect(await caller.call('sendrawtransaction', hexOf(transaction), '0.00000001')).to.equal(txidOf(transaction));
  });

  it('burn nothing unless the call allows it', async () => {
    const burning = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS, Buffer.from('6a0100', 'hex'));
    const burnt = { code: -25, message: 'Unspendable output exceeds maximum configured by user (maxburnamount)' };
    // The limit is parsed before the transaction.
    expect(await caller.failure('sendrawtransaction', ['00', null, 'x'])).to.deep.equal({ code: -3, message: 'Invalid amount' });
    const tooLate = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS, Buffer.from('51ff', 'hex'));
    for (const unspendable of [burning, tooLate]) {
      expect(await failure(unspendable)).to.deep.equal(burnt);
      expect(await caller.failure('submitpackage', [[hexOf(unspendable)]])).to.deep.equal(burnt);
    }
    expect(await failure(burning, null, '49.99989999')).to.include({ code: -25 });
    expect(await caller.call('sendrawtransaction', hexOf(burning), null, '49.99990000')).to.equal(txidOf(burning));
  });

  it('are tested one after the other, and none of them enters the pool', async () => {
    const coin = wallet.fresh();
    const parent = wallet.paying([coin], COINBASE_SATS - FEE_SATS);
    const child = wallet.paying([parent], COINBASE_SATS - 2 * FEE_SATS);
    const before = await caller.call('getrawmempool');
    const trials = await caller.call<Trial[]>('testmempoolaccept', [parent, child].map(hexOf));
    expect(trials.map(({ txid, allowed, fees }) => [txid, allowed, fees?.base])).to.deep.equal([
      [txidOf(parent), true, 0.0001],
      [txidOf(child), true, 0.0001]
    ]);
    expect(await caller.call('getrawmempool')).to.deep.equal(before);
    expect(await caller.call('testmempoolaccept', [hexOf(child)])).to.deep.equal([
      { txid: txidOf(child), wtxid: txidOf(child), allowed: false, 'reject-reason': 'missing-inputs' }
    ]);
    const faults: readonly [readonly HostTransaction[], string][] = [
      [[child, parent], 'package-not-sorted'],
      [[parent, parent], 'package-contains-duplicates'],
      [[parent, wallet.paying([coin], COINBASE_SATS - 2 * FEE_SATS)], 'conflict-in-package'],
      [[wallet.fresh(), wallet.fresh()].map((one) => wallet.paying([one], 0, dataOf(51_000))), 'package-too-large']
    ];
    for (const [transactions, fault] of faults) {
      const [trial] = await caller.call<Record<string, unknown>[]>('testmempoolaccept', transactions.map(hexOf));
      expect(trial).to.deep.include({ 'package-error': fault });
    }
    for (const method of ['testmempoolaccept', 'submitpackage'])
      for (const params of [[[]], [[], 'x'], [Array(26).fill('00'), 1]])
        expect(await caller.failure(method, params), method).to.deep.equal({
          code: -8,
          message: 'Array must contain between 1 and 25 transactions.'
        });
    expect(await caller.failure('testmempoolaccept', [['00']])).to.deep.equal({
      code: -22,
      message: 'TX decode failed: 00 Make sure the tx has at least one input.'
    });
    expect(await caller.failure('testmempoolaccept', [[5]])).to.include({ code: -3 });
  });

  it('cannot be read with amounts that bcoin cannot read, and are shown as they are', async () => {
    for (const [satoshis, shown] of [
      [2n ** 53n + 3n, '90071992.54740995'],
      [-(2n ** 62n) - 1n, '-46116860184.27387905']
    ] as const) {
      const raw = wallet.paying([wallet.fresh()], 1).toRaw();
      const { offset } = scanTransaction(raw).outputs[0] ?? expect.fail('an output');
      raw.writeBigInt64LE(satoshis, offset);
      const hex = raw.toString('hex');
      for (const method of ['testmempoolaccept', 'submitpackage'])
        expect(await caller.failure(method, [[hex]]), method).to.deep.equal({
          code: -22,
          message: `TX decode failed: ${hex} Make sure the tx has at least one input.`
        });
      expect(await caller.failure('sendrawtransaction', [hex])).to.have.property('code', -22);
      const { body } = await caller.post(JSON.stringify({ method: 'decoderawtransaction', params: [hex] }));
      expect(body.toString()).to.include(`"value":${shown},`);
    }
  });

  it('are named by their wtxids, if the pool has them with another witness', async () => {
    const script = Buffer.from('7551', 'hex'); // OP_DROP OP_1
    const hash = createHash('sha256').update(script).digest();
    const funding = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS, Buffer.concat([Buffer.from('0020', 'hex'), hash]));
    await caller.call('sendrawtransaction', hexOf(funding));
    const [one, other] = [1, 2].map((n) =>
      madeTransaction(
        [{ txid: funding.hash(), index: 0, witness: [Buffer.of(n), script] }],
        [{ value: COINBASE_SATS - 2 * FEE_SATS, script: wallet.script }],
        0
      ).toString('hex')
    );
    const [first] = Object.entries((await caller.call<SentPackage>('submitpackage', [one]))['tx-results']);
    const [second] = Object.entries((await caller.call<SentPackage>('submitpackage', [other]))['tx-results']);
    expect(first?.[1]).to.have.nested.property('fees.effective-includes').that.deep.equals([first?.[0]]);
    expect(second?.[1]).to.deep.equal({ txid: first?.[1]['txid'], 'other-wtxid': first?.[0] });
  });

  it('come as a child with its parents', async () => {
    const parents = [wallet.fresh(), wallet.fresh()].map((coin) => wallet.paying([coin], COINBASE_SATS - FEE_SATS));
    const child = wallet.paying(parents, 2 * COINBASE_SATS - 4 * FEE_SATS);
    expect(await caller.failure('submitpackage', [[child, ...parents].map(hexOf)])).to.deep.equal({
      code: -25,
      message: 'package topology disallowed. not child-with-parents or parents depend on each other.'
    });
    const done = await caller.call<Record<string, unknown>>('submitpackage', [...parents, child].map(hexOf));
    expect(done).to.deep.include({ package_msg: 'success', 'replaced-transactions': [] });
    expect(Object.keys(done['tx-results'] as object)).to.deep.equal([...parents, child].map(txidOf));
    expect(await caller.call('getrawmempool')).to.include(txidOf(child));
    const refused = await caller.call<Record<string, unknown>>('submitpackage', [
      hexOf(wallet.paying([wallet.fresh()], COINBASE_SATS + 1))
    ]);
    expect(refused).to.have.property('package_msg', 'transaction failed');
    expect(Object.values(refused['tx-results'] as object)[0]).to.have.property(
      'error',
      'bad-txns-in-belowout, value in (50.00) < value out (50.00000001)'
    );
  });
});
