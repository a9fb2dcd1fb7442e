import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { scanTransaction } from '../../lib/bitcoin/transaction';
import { WHOLE_CLEAR } from '../../lib/fleet/messages/records';
import { Lock } from '../../lib/turns/lock';
import { PoolReplica } from '../../lib/fleet/reader/pool-replica';
import { scanBlock, spentOutpoints } from '../../lib/bitcoin/block';
import { BcoinNode } from '../../lib/node/bcoin';
import { bcoin, type HostKeyRing, type TestFullNode } from '../support/bcoin/bcoin';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { signed } from '../support/chain/signed';
import { poolAddOf } from './pool-add';
import type { HostTransaction } from '../../lib/node/host';
import type { PoolEvent, PoolSource } from '../../lib/node/types/pool';

const FEE = 10_000;

describe('the pool of a reader', () => {
  let host: TestFullNode;
  let node: BcoinNode;
  let replica: PoolReplica;
  let ring: HostKeyRing;
  let coinbases: HostTransaction[];
  let told: string[];

  beforeEach(async () => {
    host = await openRegtestNode();
    await host.connect();
    node = new BcoinNode(host);
    const lock = new Lock();
    replica = new PoolReplica((use) => lock.run(use));
    ring = bcoin.KeyRing.generate();
    coinbases = (await mine(host, 105, undefined, ring.getAddress())).map(({ txs }) => txs[0] as HostTransaction);
    told = [];
    replica.events$.subscribe((event) => told.push(textOf(event)));
  });

  afterEach(() => host.close());

  async function broadcast(spent: HostTransaction, value = valueOf(spent) - FEE): Promise<HostTransaction> {
    const spend = signed(ring, [spent], [[ring.getAddress(), value]]);
    await node.broadcast(spend.toRaw());
    replica.apply(await poolAddOf(node, spend.hash()));
    return spend;
  }

  it('answers as the pool of the node', async () => {
    const first = await broadcast(coinbases[0] as HostTransaction);
    const second = await broadcast(first);
    await broadcast(coinbases[1] as HostTransaction);
    expectSame(replica, node.pool, [first.hash(), second.hash(), coinbases[0]?.hash() as Buffer]);
    expect(await replica.withCoins(second.hash())).to.deep.include({ txid: second.hash(), raw: second.toRaw() });
    expect((await replica.withCoins(second.hash()))?.coins).to.deep.equal([...((await node.pool.withCoins(second.hash()))?.coins ?? [])]);
    expect(await replica.withCoins(Buffer.alloc(32))).to.equal(undefined);
    expect(replica.sequence).to.equal(node.pool.sequence);
  });

  it('has transactions that say that they may be replaced (BIP125): one of their inputs is enough', async () => {
    for (const [from, sequence, signals] of [
      [0, 0xffff_fffd, true],
      [2, 0xffff_fffe, false]
    ] as const) {
      const spent = coinbases.slice(from, from + 2);
      const spend = new bcoin.MTX();
      for (const coinbase of spent) spend.addTX(coinbase, 0);
      spend.addOutput(ring.getAddress(), 2 * valueOf(spent[0] as HostTransaction) - FEE);
      (spend.inputs[1] as { sequence: number }).sequence = sequence;
      spend.sign(ring);
      const transaction = spend.toTX();
      await node.broadcast(transaction.toRaw());
      replica.apply(await poolAddOf(node, transaction.hash()));
      expect(replica.entry(transaction.hash())?.signalsReplacement).to.equal(signals);
    }
    expectSame(replica, node.pool, []);
  });

  it('drops what a block has, and what can be in no block any more, before the log says so', async () => {
    const first = await broadcast(coinbases[0] as HostTransaction);
    const second = await broadcast(coinbases[1] as HostTransaction);
    const child = await broadcast(second);
    told = [];
    const replacements: (string | undefined)[] = [];
    replica.events$.subscribe((event) => replacements.push(event.type === 'remove' ? event.replacement?.toString('hex') : undefined));
    // A block with the first one, and with another spend of the second one's coin.
    const other = signed(ring, [coinbases[1] as HostTransaction], [[ring.getAddress(), valueOf(second) - 1]]);
    const job = await host.miner.cpu.createJob(host.chain.tip);
    job.attempt.items = [];
    job.attempt.fees = 0;
    for (const each of [first, other]) job.pushTX(each);
    job.refresh();
    const block = await job.mineAsync();
    const scanned = scanBlock(block.toRaw());
    replica.blockCame(Buffer.concat(scanned.transactions.map(({ txid }) => txid)), spentOutpoints(block.toRaw()));
    expect(told).to.deep.equal([child, second, first].map((each) => `remove ${each.hash().toString('hex')}`));
    const displacing = other.hash().toString('hex');
    expect(replacements).to.deep.equal([displacing, displacing, undefined]);
    await host.chain.add(block);
    expectSame(replica, node.pool, [first.hash(), second.hash(), child.hash()]);
    // What the log says afterwards changes nothing.
    const { revision } = replica;
    for (const each of [first, second, child]) replica.apply({ type: 'remove', txid: each.hash() });
    expect(replica.revision).to.equal(revision);
  });

  it('follows changes of fee, height and broadcast, and keeps the order in which transactions entered', async () => {
    const [first, second] = [await broadcast(coinbases[0] as HostTransaction), await broadcast(coinbases[1] as HostTransaction)];
    const before = replica.entry(first.hash());
    const fingerprint = replica.feeFingerprint();
    const { revision } = replica;
    const fixed = { type: 'change', txid: first.hash(), height: 105, isUnbroadcast: true } as const;
    replica.apply({ ...fixed, modifiedFee: -5 });
    expect(replica.entry(first.hash())).to.equal(before).and.to.have.property('modifiedFee', -5);
    expect(replica.feeFingerprint()).not.to.equal(fingerprint);
    expect(replica.revision).to.equal(revision);
    replica.apply({ ...fixed, isUnbroadcast: false, modifiedFee: FEE });
    expect(replica.entry(first.hash())).to.deep.include({ isUnbroadcast: false, modifiedFee: FEE, height: 105 });
    expect(replica.revision).to.be.greaterThan(revision);
    expect(replica.info()).to.deep.include({ unbroadcast: 1, size: 2, totalFee: 2 * FEE });
    replica.apply(await poolAddOf(node, first.hash()));
    expect(replica.txids()).to.deep.equal([first.hash(), second.hash()]);
    expect(replica.info()).to.deep.include({ unbroadcast: 2, size: 2, totalFee: 2 * FEE });
    expect(told).to.deep.equal([first, second].map((each) => `add ${each.hash().toString('hex')}`));
  });

  it('tells of a transaction whose witness is another one now that it has left and come again', async () => {
    const first = await broadcast(coinbases[0] as HostTransaction);
    const plain = first.toRaw();
    // Marker and flag, and one byte as the witness of its input.
    const raw = Buffer.concat([plain.subarray(0, 4), Buffer.of(0, 1), plain.subarray(4, -4), Buffer.of(1, 1, 0x51), plain.subarray(-4)]);
    replica.apply({ ...(await poolAddOf(node, first.hash())), raw });
    expect(replica.transaction(first.hash())).to.deep.equal(raw);
    const txid = first.hash().toString('hex');
    expect(told).to.deep.equal([`add ${txid}`, `remove ${txid}`, `add ${txid}`]);
    expect(replica.info()).to.deep.include({ unbroadcast: 1, size: 1, totalFee: FEE });
  });

  it('takes the replacement of a transaction whose place is taken before it is removed', async () => {
    const first = await broadcast(coinbases[0] as HostTransaction);
    const better = signed(
      ring,
      [coinbases[0] as HostTransaction],
      [[ring.getAddress(), valueOf(coinbases[0] as HostTransaction) - 2 * FEE]]
    );
    replica.apply({ ...(await poolAddOf(node, first.hash())), raw: better.toRaw() });
    replica.apply({ type: 'remove', txid: first.hash(), replacement: better.hash() });
    expect(replica.txids()).to.deep.equal([better.hash()]);
    expect(replica.spender(coinbases[0]?.hash() as Buffer, 0)).to.deep.equal({ txid: better.hash(), input: 0 });
    const { revision } = replica;
    replica.apply(WHOLE_CLEAR);
    expect(replica.revision).to.equal(revision + 1);
    expect(replica.isSpent(coinbases[0]?.hash() as Buffer, 0)).to.equal(false);
    expect(replica.info()).to.deep.include({ size: 0, bytes: 0, totalFee: 0, unbroadcast: 0 });
    expect(told.at(-1)).to.equal('clear');
  });

  it('drops what a clearing does not keep once its last record has come, and tells nothing of the others', async () => {
    const [first, second, third] = await Promise.all(coinbases.slice(0, 3).map((coinbase) => broadcast(coinbase)));
    const hashOf = (spend: HostTransaction | undefined): Buffer => spend?.hash() ?? expect.fail('a transaction');
    const [one, two, three] = [first, second, third].map(hashOf) as [Buffer, Buffer, Buffer];
    told = [];
    // Only the end of one: it belongs to what was before this pool.
    replica.apply({ type: 'clear', kept: [two], part: 1, hasMore: false });
    // And one in the middle of which a record is missing.
    for (const part of [0, 2]) replica.apply({ type: 'clear', kept: [one], part, hasMore: true });
    replica.apply({ type: 'clear', kept: [one], part: 1, hasMore: false });
    replica.apply({ type: 'clear', kept: [one], part: 0, hasMore: true });
    replica.apply({ type: 'clear', kept: [one], part: 0, hasMore: true });
    expect([replica.txids(), told]).to.deep.equal([[one, two, three], []]);
    replica.apply({ type: 'clear', kept: [three], part: 1, hasMore: false });
    expect(replica.txids()).to.deep.equal([one, three]);
    expect(told).to.deep.equal([`remove ${two.toString('hex')}`]);
    const { revision } = replica;
    replica.apply({ type: 'clear', kept: [one, three, Buffer.alloc(32)], part: 0, hasMore: false });
    expect([replica.revision, told.length]).to.deep.equal([revision, 1]);
  });

  it('refuses a transaction without its coins, and bytes that are none', async () => {
    const first = await broadcast(coinbases[0] as HostTransaction);
    const add = await poolAddOf(node, first.hash());
    expect(() => replica.apply({ ...add, coins: [] })).to.throw('expected 1 coins');
    expect(() => replica.apply({ ...add, raw: add.raw.subarray(1) })).to.throw();
    expect(replica.txids()).to.deep.equal([first.hash()]);
  });
});

function valueOf(transaction: HostTransaction): number {
  return scanTransaction(transaction.toRaw()).outputs[0]?.value ?? 0;
}

function textOf(event: PoolEvent): string {
  return event.type === 'clear' ? 'clear' : `${event.type} ${event.txid.toString('hex')}`;
}

/** `txids`: of transactions whose outputs are looked up. */
function expectSame(replica: PoolSource, pool: PoolSource, txids: readonly Buffer[]): void {
  const fieldsOf = (source: PoolSource): unknown =>
    source.entries().map((entry) => {
      const { txid, wtxid, size, weight, adjustedWeight, fee, modifiedFee, time, height, spends, signalsReplacement, isUnbroadcast } =
        entry;
      expect(source.entry(txid)?.txid).to.deep.equal(txid);
      return { txid, wtxid, size, weight, adjustedWeight, fee, modifiedFee, time, height, spends, signalsReplacement, isUnbroadcast };
    });
  expect(fieldsOf(replica)).to.deep.equal(fieldsOf(pool));
  expect(replica.txids()).to.deep.equal(pool.txids());
  for (const txid of txids) {
    expect(replica.transaction(txid)).to.deep.equal(pool.transaction(txid));
    for (const index of [0, 1]) {
      expect(replica.coin(txid, index)).to.deep.equal(pool.coin(txid, index));
      expect(replica.isSpent(txid, index)).to.equal(pool.isSpent(txid, index));
      expect(replica.spender(txid, index)).to.deep.equal(pool.spender(txid, index));
    }
  }
  const { size, bytes, totalFee, unbroadcast } = pool.info();
  expect(replica.info()).to.deep.include({ size, bytes, totalFee, unbroadcast });
  expect(replica.feeFingerprint()).to.equal(pool.feeFingerprint());
}
