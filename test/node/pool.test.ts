import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { hash256 } from '../../lib/bitcoin/hash';
import { scanTransaction, type ScannedOutput } from '../../lib/bitcoin/transaction';
import { BcoinNode } from '../../lib/node/bcoin';
import { MissingOutputsError, TransactionRefusedError } from '../../lib/node/errors';
import { toHostLike } from '../../lib/node/host';
import { bcoin, type HostFullBlock, type HostKeyRing, type TestFullNode } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { COINBASE_SATS, FEE_SATS } from '../support/chain/coinbases';
import { madeTransaction } from '../support/chain/made-blocks';
import { entryOf, mine, mineOnly, openRegtestNode } from '../support/bcoin/regtest-node';
import { signed, type PaidOutput } from '../support/chain/signed';
import { withSuperfluousWitness } from '../support/chain/superfluous-witness';
import type { HostTransaction } from '../../lib/node/host';
import type { PoolEvent } from '../../lib/node/types/pool';

/** Number of a connection. */
const PEER = 7;

/** OP_1 */
const ANYBODY = Buffer.of(0x51);

describe("the node's pool", () => {
  let host: TestFullNode;
  let node: BcoinNode;
  let ring: HostKeyRing;
  let coinbases: HostTransaction[];
  let spend: HostTransaction;
  let told: PoolEvent[];

  beforeEach(async () => {
    host = await openRegtestNode();
    await host.connect();
    node = new BcoinNode(host);
    ring = bcoin.KeyRing.generate();
    coinbases = (await mine(host, 101, undefined, ring.getAddress())).map(({ txs }) => txs[0] as HostTransaction);
    spend = paying(coinbases[0] as HostTransaction, COINBASE_SATS - FEE_SATS);
    told = [];
    node.pool.events$.subscribe((event) => {
      told.push(event);
    });
  });

  afterEach(() => host.close());

  it('returns a transaction that came with a superfluous witness without it, and does not broadcast such a transaction', async () => {
    const raw = spend.toRaw();
    const superfluous = withSuperfluousWitness(scanTransaction(raw));
    for (const bytes of [superfluous, Buffer.concat([raw, Buffer.alloc(1)])])
      expect(await caught(node.broadcast(bytes)))
        .to.be.instanceOf(TransactionRefusedError)
        .and.to.have.property('message')
        .that.equals('it cannot be read');
    expect(node.pool.entries()).to.have.length(0);
    await host.mempool.addTX(bcoin.TX.fromRaw(superfluous));
    expect(node.pool.transaction(spend.hash())?.equals(raw)).to.equal(true);
    expect(node.pool.entries()[0]?.wtxid).to.deep.equal(hash256(raw));
    expect(node.pool.info().bytes).to.equal(raw.length);
  });

  it('accepts a transaction, knows its coins and what it spends, and drops it when a block has it', async () => {
    const txid = spend.hash();
    const [input] = spend.inputs;
    expect(node.pool.transaction(txid)).to.equal(undefined);
    const { revision } = node.pool;
    await node.broadcast(spend.toRaw());
    expect(node.pool.revision).to.be.greaterThan(revision);
    expect(node.pool.transaction(txid)).to.deep.equal(spend.toRaw());
    expect(node.pool.coin(txid, 0)?.value).to.equal(COINBASE_SATS - FEE_SATS);
    expect(node.pool.coin(txid, 1)).to.equal(undefined);
    const spent = input?.prevout.hash;
    expect(node.pool.isSpent(typeof spent === 'string' ? Buffer.from(spent, 'hex') : (spent as Buffer), 0)).to.equal(true);
    expect(node.pool.entries()).to.have.length(1);
    expect(node.pool.entries()[0]).to.deep.include({ txid, fee: FEE_SATS, modifiedFee: FEE_SATS, height: 101 });
    expect(node.pool.info()).to.deep.include({ size: 1, bytes: node.pool.entries()[0]?.size });
    await mine(host, 1);
    expect(node.pool.transaction(txid)).to.equal(undefined);
    expect(node.pool.info()).to.deep.include({ size: 0, bytes: 0 });
    expect(told).to.deep.equal([
      { type: 'add', txid },
      { type: 'remove', txid, isConfirmed: true }
    ]);
  });

  it('tells of each transaction that leaves what has displaced it, and of the next one that nothing has', async () => {
    const others = coinbases.slice(0, 2).map((coinbase) => paying(coinbase, COINBASE_SATS - 2 * FEE_SATS));
    const [displacing, displaced] = [others[1] as HostTransaction, paying(coinbases[1] as HostTransaction, COINBASE_SATS - FEE_SATS)];
    for (const transaction of [spend, displaced]) await node.broadcast(transaction.toRaw());
    told.length = 0;
    await mineOnly(host, [displacing]);
    await mineOnly(host, [spend]);
    expect(told).to.deep.equal([
      { type: 'remove', txid: displaced.hash(), isConfirmed: false, replacement: displacing.hash() },
      { type: 'remove', txid: spend.hash(), isConfirmed: true }
    ]);
  });

  it('shows transactions that a reorganization put back with the height after the reorganization', async () => {
    await node.broadcast(spend.toRaw());
    await mine(host, 1);
    const fork = host.chain.tip;
    // bcoin puts back no transactions that spend a coinbase, and none at all into an empty pool.
    const putBack = paying(spend, COINBASE_SATS - 2 * FEE_SATS);
    await node.broadcast(putBack.toRaw());
    await mine(host, 1);
    const [branch] = (await mine(host, 1, fork)) as [HostFullBlock];
    const other = paying(coinbases[1] as HostTransaction, COINBASE_SATS - FEE_SATS);
    await node.broadcast(other.toRaw());
    expect(node.pool.entries().map(({ txid, height }) => [txid, height])).to.deep.equal([[other.hash(), 103]]);
    await mine(host, 1, await entryOf(host, branch));
    expect(node.pool.entries().map(({ txid, height }) => [txid, height])).to.deep.equal([[putBack.hash(), 104]]);
    const [entry] = node.pool.entries();
    expect(node.pool.entries()[0]).to.equal(entry);
    expect(entry?.isUnbroadcast).to.equal(false);
    const again = host.chain.tip;
    const third = paying(other, COINBASE_SATS - 2 * FEE_SATS);
    await mineOnly(host, [third]);
    let toldAt = 0;
    node.pool.events$.subscribe(() => (toldAt = node.pool.revision));
    await mineOnly(host, [], await mineOnly(host, [], again));
    // What the reorganization before has put back stays as it is.
    expect(node.pool.entries().map(({ txid, height }) => [txid, height])).to.deep.equal([
      [putBack.hash(), 104],
      [third.hash(), 106]
    ]);
    expect(node.pool.revision).to.be.greaterThan(toldAt);
    const [{ value, script }] = scanTransaction(spend.toRaw()).outputs as [ScannedOutput];
    expect(
      told.flatMap((event) => (event.type === 'add' && event.txid.equals(putBack.hash()) ? [[event.raw, event.coins]] : []))
    ).to.deep.equal(Array(2).fill([putBack.toRaw(), [{ value, script }]]));
  });

  it('reports the coins that an entering transaction spends, and returns the same ones when asked', async () => {
    const coinbase = (coinbases[0] as HostTransaction).toRaw();
    const coins = scanTransaction(coinbase)
      .outputs.slice(0, 1)
      .map(({ value, script }) => ({ value, script }));
    const child = paying(spend, COINBASE_SATS - 2 * FEE_SATS);
    const spent = scanTransaction(spend.toRaw()).outputs.map(({ value, script }) => ({ value, script }));
    const added = (): unknown[] =>
      told.flatMap((event) => (event.type === 'add' ? [{ txid: event.txid, raw: event.raw, coins: event.coins }] : []));
    const both = [
      { txid: spend.hash(), raw: spend.toRaw(), coins },
      { txid: child.hash(), raw: child.toRaw(), coins: spent }
    ];
    await node.broadcast(spend.toRaw());
    await node.broadcast(child.toRaw());
    expect(added()).to.deep.equal(both);
    expect(node.pool.txids()).to.deep.equal([spend.hash(), child.hash()]);
    for (const expected of both) {
      const { txid, raw, coins: theirs } = (await node.pool.withCoins(expected.txid)) ?? expect.fail('a transaction of the pool');
      expect({ txid, raw, coins: theirs }).to.deep.equal(expected);
    }
    expect(node.pool.spender(spend.hash(), 0)).to.deep.equal({ txid: child.hash(), input: 0 });
    expect(node.pool.spender((coinbases[0] as HostTransaction).hash(), 0)).to.deep.equal({ txid: spend.hash(), input: 0 });
    expect(node.pool.spender(child.hash(), 0)).to.equal(undefined);
    const half = (COINBASE_SATS - 4 * FEE_SATS) / 2;
    const split = signed(ring, [child], Array<PaidOutput>(2).fill([ring.getAddress(), half]));
    const joined = signed(ring, [[split, 0] as const, [split, 1] as const], [[ring.getAddress(), 2 * half - FEE_SATS]]);
    for (const transaction of [split, joined]) await node.broadcast(transaction.toRaw());
    for (const input of joined.inputs.keys()) expect(node.pool.spender(split.hash(), input)).to.deep.equal({ txid: joined.hash(), input });

    const asked = node.pool.withCoins(spend.hash());
    host.mempool.evictEntry([...host.mempool.map.values()][0] ?? expect.fail('an entry'));
    for (const answer of [asked, node.pool.withCoins(child.hash())]) expect(await answer).to.equal(undefined);
  });

  it('knows which transactions signal that they may be replaced: by a sequence number up to 0xfffffffd (BIP125)', async () => {
    const [anybody, half] = [Buffer.of(0x51), (COINBASE_SATS - FEE_SATS) / 2];
    const output: PaidOutput = [anybody, half];
    const parent = signed(ring, [coinbases[0] as HostTransaction], [output, output]);
    await node.broadcast(parent.toRaw());
    for (const [index, sequence] of [0xffff_fffd, 0xffff_fffe].entries()) {
      const raw = madeTransaction([{ txid: parent.hash(), index }], [{ value: half - FEE_SATS, script: anybody }], 0);
      // Behind version, count, outpoint and an empty script.
      raw.writeUInt32LE(sequence, 4 + 1 + 36 + 1);
      await node.broadcast(raw);
    }
    expect(node.pool.entries().map(({ signalsReplacement }) => signalsReplacement)).to.deep.equal([false, true, false]);
  });

  it('reports when it is emptied by a reset', async () => {
    const child = paying(spend, COINBASE_SATS - 2 * FEE_SATS);
    for (const transaction of [spend, child]) await node.broadcast(transaction.toRaw());
    const { revision, sequence } = node.pool;
    expect(node.pool.info().unbroadcast).to.equal(2);
    await host.chain.reset(50);
    expect(told.at(-1)).to.deep.equal({ type: 'clear', txids: [spend.hash(), child.hash()] });
    expect(node.pool.revision).to.be.greaterThan(revision);
    // As if they had left one by one.
    expect(node.pool.sequence).to.equal(sequence + 2);
    expect(node.pool.entries()).to.deep.equal([]);
    expect(node.pool.info().unbroadcast).to.equal(0);
  });

  it('has another fingerprint of fees when transactions were prioritised, even if the sum stays the same', async () => {
    await node.broadcast(spend.toRaw());
    await node.broadcast(paying(spend, COINBASE_SATS - 2 * FEE_SATS).toRaw());
    const seen = new Set([node.pool.feeFingerprint()]);
    const entries = [...host.mempool.map.values()];
    // More than fits into 32 bits, up and down.
    for (const [i, fee] of [
      [0, 500],
      [1, -500],
      [0, -500],
      [1, 1_000],
      [0, 2 ** 32],
      [1, 3 * 2 ** 32],
      [0, -(2 ** 33)],
      [1, 2 ** 50]
    ] as const) {
      const { revision } = node.pool;
      host.mempool.prioritise(entries[i], 0, fee);
      expect(node.pool.revision).to.equal(revision);
      seen.add(node.pool.feeFingerprint());
    }
    expect(seen).to.have.length(9);
  });

  it("accepts transactions that it already has, and refuses others with the node's reason", async () => {
    await node.broadcast(spend.toRaw());
    await node.broadcast(spend.toRaw());
    const refusals: readonly [bytes: Buffer, reason: string][] = [
      [Buffer.from('00', 'hex'), 'it cannot be read'],
      [orphan(), 'it spends outputs that are not there'],
      [doubleSpend(), 'bad-txns-inputs-spent']
    ];
    for (const [bytes, reason] of refusals) {
      const error = await caught(node.broadcast(bytes));
      expect(error).to.be.instanceOf(TransactionRefusedError);
      expect((error as Error).message).to.equal(reason);
    }
    // The pool does not keep it until its parents come, either.
    expect(host.mempool.hasOrphan(toHostLike(host.chain.tip.hash)(hash256(orphan())))).to.equal(false);
  });

  it('refuses what lacks outputs also where the pool would not keep it until they come', async () => {
    await node.broadcast(spend.toRaw());
    const beyond = madeTransaction([{ txid: spend.hash(), index: 1 }], [{ value: 1_000, script: ANYBODY }], 0);
    const tooLarge = madeTransaction(
      Array.from({ length: 2_500 }, (_, index) => ({ txid: Buffer.alloc(32, 9), index })),
      [{ value: 1_000, script: ANYBODY }],
      0
    );
    for (const raw of [beyond, tooLarge]) expect(await caught(node.broadcast(raw))).to.be.instanceOf(MissingOutputsError);
    expect(node.pool.txids()).to.deep.equal([spend.hash()]);
  });

  it('does not count as unbroadcast what a peer has sent before its parent', async () => {
    const child = paying(spend, COINBASE_SATS - 2 * FEE_SATS);
    for (const transaction of [child, spend]) await host.mempool.addTX(transaction, PEER);
    expect(node.pool.entry(child.hash())).to.have.property('isUnbroadcast', false);
  });

  it('takes a transaction that comes several times at once', async () => {
    await Promise.all([1, 2, 3].map(() => node.broadcast(spend.toRaw())));
    expect(node.pool.txids()).to.deep.equal([spend.hash()]);
  });

  it('takes a child that comes while its large parent is still being read', async () => {
    const change = COINBASE_SATS - 100 * FEE_SATS - 2_000 * 1_000;
    const outputs = Array.from({ length: 2_000 }, () => [ANYBODY, 1_000] as const);
    const parent = signed(ring, [coinbases[0] as HostTransaction], [...outputs, [ring.getAddress(), change]]);
    const child = signed(ring, [[parent, outputs.length]], [[ring.getAddress(), change - FEE_SATS]]);
    await Promise.all([parent, child].map((each) => node.broadcast(each.toRaw())));
    expect(node.pool.txids()).to.have.deep.members([parent.hash(), child.hash()]);
  });

  /** Spends the first output. */
  const paying = (from: HostTransaction, sats: number): HostTransaction => signed(ring, [from], [[ring.getAddress(), sats]]);

  function orphan(): Buffer {
    const raw = Buffer.from(spend.toRaw());
    raw.fill(7, 5, 37);
    return raw;
  }

  /** Spends the same coin for another fee. */
  function doubleSpend(): Buffer {
    const raw = Buffer.from(spend.toRaw());
    raw.writeUInt32LE(raw.readUInt32LE(raw.length - 4) + 1, raw.length - 4);
    return raw;
  }
});
