// Imported first: bcoin 1.0.2 cannot read its pool from the disk otherwise.
import '../../plugin/leveldown-6';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { MissingOutputsError, TransactionRefusedError } from '../../lib/node/errors';
import { toHostLike } from '../../lib/node/host';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { newFolder } from '../support/process/folders';
import { madeTransaction } from '../support/chain/made-blocks';
import { openModernNode, type ModernNode } from '../support/bcoin/modern-node';
import { freePort, mine, mineOnly, openRegtestNode, type RegtestOptions } from '../support/bcoin/regtest-node';
import { RpcCaller } from '../support/client/rpc';
import { signed } from '../support/chain/signed';
import type { AddressInfo } from 'node:net';
import type { HostHash, HostTransaction } from '../../lib/node/host';
import type { BcoinNode } from '../../lib/node/bcoin';
import type { PoolEvent } from '../../lib/node/types/pool';

const FEE = 1_000;

/** Bytes by which transactions of one form may differ. */
const SIGNATURES_DIFFER_BY = 8;

/** OP_1 */
const ANYBODY = Buffer.of(0x51);

/** A transaction of one input, serialized without a witness, with one that nobody has asked for. */
function withWitness(raw: Buffer): Buffer {
  const [version, parts, locktime] = [raw.subarray(0, 4), raw.subarray(4, -4), raw.subarray(-4)];
  return Buffer.concat([version, Buffer.of(0, 1), parts, Buffer.of(1, 1, 7), locktime]);
}

describe('the modern pool', () => {
  const ring: HostKeyRing = bcoin.KeyRing.generate();
  const open: ModernNode[] = [];

  afterEach(async () => {
    for (const { host } of open.splice(0)) if (host.opened) await host.close();
  });

  async function openNode(options: RegtestOptions = {}): Promise<ModernNode> {
    const opened = await openModernNode(options);
    open.push(opened);
    return opened;
  }

  /** A node, and coinbases that may be spent. */
  async function withCoins(count: number, options: RegtestOptions = {}): Promise<ModernNode & { readonly coins: HostTransaction[] }> {
    const opened = await openNode(options);
    const blocks = await mine(opened.host, 100 + count, undefined, ring.getAddress());
    return { ...opened, coins: blocks.slice(0, count).map(({ txs }) => txs[0] as HostTransaction) };
  }

  /** Spends first outputs into one output, for a fee. */
  const paying = (from: readonly HostTransaction[], fee: number, before = COINBASE_SATS): HostTransaction =>
    signed(ring, from, [[ring.getAddress(), before * from.length - fee]]);

  const idsOf = (node: BcoinNode): string[] => node.pool.txids().map(toDisplayHex);
  const namesOf = (...transactions: readonly HostTransaction[]): string[] => transactions.map((one) => toDisplayHex(one.hash()));
  const hostHash = ({ host }: ModernNode, transaction: HostTransaction): HostHash => toHostLike(host.chain.tip.hash)(transaction.hash());

  it('replaces a transaction with all that spend from it, children first, and then lets the new one in', async () => {
    const { host, node, coins } = await withCoins(1);
    const parent = paying(coins, FEE);
    const child = paying([parent], FEE, COINBASE_SATS - FEE);
    const replacement = paying(coins, 10 * FEE);
    for (const transaction of [parent, child]) await node.broadcast(transaction.toRaw());
    const told: PoolEvent[] = [];
    const subscription = node.pool.events$.subscribe((event) => told.push(event));
    await node.broadcast(replacement.toRaw());
    expect(idsOf(node)).to.deep.equal(namesOf(replacement));
    expect(node.pool.info()).to.include({ size: 1, totalFee: 10 * FEE, replaces: true, minRelayFeeRate: 100 });
    await mineOnly(host, [replacement]);
    subscription.unsubscribe();
    expect(told.pop()).to.deep.equal({ type: 'remove', txid: replacement.hash(), isConfirmed: true });
    expect(told.map((event) => ('txid' in event ? [event.type, toDisplayHex(event.txid)] : event.type))).to.deep.equal([
      ['remove', ...namesOf(child)],
      ['remove', ...namesOf(parent)],
      ['add', ...namesOf(replacement)]
    ]);
    for (const event of told.slice(0, 2)) expect(event).to.deep.include({ replacement: replacement.hash() });
  });

  it('refuses in the words of Bitcoin Core', async () => {
    const { node, coins } = await withCoins(1);
    await node.broadcast(paying(coins, FEE).toRaw());
    const cheaper = paying(coins, FEE - 1);
    const error = await caught(node.broadcast(cheaper.toRaw()));
    expect(error).to.be.instanceOf(TransactionRefusedError);
    const message = `insufficient fee, rejecting replacement ${toDisplayHex(cheaper.hash())}, less fees than conflicting txs; 0.00000999 < 0.00001`;
    expect((error as TransactionRefusedError).words).to.deep.equal({ reason: 'insufficient fee', message });
    expect(await node.tryTransactions([cheaper.toRaw()])).to.deep.equal({
      results: [{ type: 'refused', reason: 'insufficient fee', words: { reason: 'insufficient fee', message } }]
    });
    const orphan = paying([paying(coins, FEE + 1)], FEE, COINBASE_SATS - FEE - 1);
    expect(await caught(node.broadcast(orphan.toRaw()))).to.be.instanceOf(MissingOutputsError);
  });

  it('keeps a child of a peer until its parent comes, and neither in between', async () => {
    const opened = await withCoins(1);
    const { host, node, coins } = opened;
    const parent = paying(coins, FEE);
    const child = paying([parent], FEE, COINBASE_SATS - FEE);
    expect(await host.mempool.addTX(child)).to.have.length(1);
    expect(await host.mempool.addTX(child)).to.have.length(1);
    expect(host.mempool.hasOrphan(hostHash(opened, child))).to.equal(true);
    await host.mempool.addTX(parent);
    expect(idsOf(node)).to.deep.equal(namesOf(parent, child));
    expect(host.mempool.hasOrphan(hostHash(opened, child))).to.equal(false);
  });

  it('takes a child that waits for its parent when both come as a package, and nothing else that waits for it', async () => {
    const { host, node, coins } = await withCoins(1);
    const parent = paying(coins, 0);
    const child = paying([parent], FEE, COINBASE_SATS);
    const rival = paying([parent], FEE - 100, COINBASE_SATS);
    for (const orphan of [rival, child]) await host.mempool.addTX(orphan);
    const refused: HostHash[] = [];
    host.mempool.on('bad orphan', ({ hash }: { readonly hash: HostHash }) => refused.push(hash));
    const submitted = await node.submitPackage(
      [parent, child].map((one) => one.toRaw()),
      0
    );
    expect(submitted?.message).to.equal('success');
    expect(submitted?.members.map(({ type }) => type)).to.deep.equal(['entered', 'entered']);
    expect(idsOf(node)).to.deep.equal(namesOf(parent, child));
    // Peers are blamed for these.
    expect(refused).to.deep.equal([toHostLike(host.chain.tip.hash)(rival.hash())]);
  });

  it('counts what was given in a package as broadcast, and what was given alone as not', async () => {
    const { node, coins } = await withCoins(2);
    const [first, ...others] = coins.map((coin) => paying([coin], FEE));
    const child = paying(others, FEE, COINBASE_SATS - FEE);
    await node.broadcast((first as HostTransaction).toRaw()); // there are two coins
    const submitted = await node.submitPackage(
      [...others, child].map((one) => one.toRaw()),
      0
    );
    expect(submitted?.message).to.equal('success');
    expect(node.pool.info()).to.include({ size: 3, unbroadcast: 1 });
    const unbroadcast = node.pool.entries().filter(({ isUnbroadcast }) => isUnbroadcast);
    expect(unbroadcast.map(({ txid }) => toDisplayHex(txid))).to.deep.equal(namesOf(first as HostTransaction));
    await node.broadcast(paying([child], FEE, COINBASE_SATS - 2 * FEE).toRaw());
    expect(node.pool.info()).to.include({ size: 4, unbroadcast: 2 });
  });

  it('takes no package that pays more than its sender wants', async () => {
    const { node, coins } = await withCoins(1);
    const parent = paying(coins, 0);
    const child = paying([parent], 5_000_000, COINBASE_SATS);
    const submit = (mostRate: number): ReturnType<BcoinNode['submitPackage']> =>
      node.submitPackage(
        [parent, child].map((one) => one.toRaw()),
        mostRate
      );
    const refused = await submit(10_000_000);
    expect([refused?.message, refused?.members[1]]).to.deep.equal([
      'transaction failed',
      { type: 'refused', reason: 'max feerate exceeded', details: '' }
    ]);
    expect(idsOf(node)).to.deep.equal([]);
    expect((await submit(0))?.message).to.equal('success');
  });

  it('takes a transaction that pays exactly as much as its sender wants to pay at most', async () => {
    const { host, node, coins } = await withCoins(1);
    const value = COINBASE_SATS - FEE;
    const coin = signed(ring, coins, [[Buffer.of(0x51), value]]);
    await mineOnly(host, [coin]);
    // 84 bytes, each for five satoshis.
    const raw = madeTransaction([{ txid: coin.hash(), index: 0 }], [{ value: value - 420, script: Buffer.alloc(24, 0x51) }], 0);
    expect(((await caught(node.broadcast(raw, 4_999))) as TransactionRefusedError).words?.reason).to.equal('max feerate exceeded');
    await node.broadcast(raw, 5_000);
    expect(node.pool.info()).to.include({ size: 1, bytes: 84, totalFee: 420 });
  });

  it('takes transactions of a disconnected block back: into an empty pool, and spends of mature coinbases', async () => {
    const { host, node, coins } = await withCoins(2);
    const parent = paying(coins.slice(0, 1), FEE);
    const child = paying([parent], FEE, COINBASE_SATS - FEE);
    const fork = host.chain.tip;
    await mineOnly(host, [parent, child]);
    expect(idsOf(node)).to.deep.equal([]);
    await mineOnly(host, [], await mineOnly(host, [], fork));
    expect(idsOf(node)).to.deep.equal(namesOf(parent, child));
    expect(node.pool.entries().map(({ isUnbroadcast }) => isUnbroadcast)).to.deep.equal([false, false]);
  });

  it('is empty after a reset of the chain, and does not take what spends a coinbase that is young then', async () => {
    const { host, node, coins } = await withCoins(1);
    const fork = (await host.chain.getEntryByHeight(host.chain.tip.height - 2)) ?? expect.fail('a block below the tip');
    const young = paying(coins, FEE);
    const child = paying([young], FEE, COINBASE_SATS - FEE);
    for (const transaction of [young, child]) await node.broadcast(transaction.toRaw());
    await host.connect();
    await host.chain.reset(fork.height);
    expect(idsOf(node)).to.deep.equal([]);
    expect(((await caught(node.broadcast(young.toRaw()))) as TransactionRefusedError).words?.message).to.equal(
      'bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 99'
    );
  });

  it('leaves what a rival in the new chain has spent, and all of its descendants', async () => {
    const { host, node, coins } = await withCoins(1);
    const parent = paying(coins, FEE);
    const child = paying([parent], FEE, COINBASE_SATS - FEE);
    const fork = host.chain.tip;
    await mineOnly(host, [parent]);
    await node.broadcast(child.toRaw());
    await mineOnly(host, [], await mineOnly(host, [paying(coins, 2 * FEE)], fork));
    expect(idsOf(node)).to.deep.equal([]);
  });

  it('leaves what has a relative lock time that ends later in the new chain', async () => {
    const { host, node, coins } = await withCoins(1);
    const parent = paying(coins, FEE);
    const child = new bcoin.MTX();
    child.version = 2;
    child.addTX(parent, 0);
    for (const input of child.inputs) input.sequence = 2;
    child.addOutput(ring.getAddress(), COINBASE_SATS - 2 * FEE);
    child.sign(ring);
    const locked = child.toTX();
    const fork = host.chain.tip;
    await mineOnly(host, [parent]);
    expect(((await caught(node.broadcast(locked.toRaw()))) as TransactionRefusedError).words?.message).to.equal('non-BIP68-final');
    await mineOnly(host, []);
    await node.broadcast(locked.toRaw());
    await mineOnly(host, [parent], await mineOnly(host, [], await mineOnly(host, [], fork)));
    expect(idsOf(node)).to.deep.equal([]);
    await mineOnly(host, []);
    await node.broadcast(locked.toRaw());
    expect(idsOf(node)).to.deep.equal(namesOf(locked));
  });

  it('leaves what is too early for the next block of a shorter chain that has more work', async () => {
    const { host, node } = await openNode();
    const blocks = await mine(host, 108, undefined, ring.getAddress());
    const coinbaseAt = (height: number): HostTransaction => blocks[height - 1]?.txs[0] as HostTransaction;
    const lockedUntil = (height: number, coin: HostTransaction): HostTransaction => {
      const made = new bcoin.MTX();
      made.addTX(coin, 0);
      for (const input of made.inputs) input.sequence = 0xffff_fffe;
      made.locktime = height;
      made.addOutput(ring.getAddress(), COINBASE_SATS - FEE);
      made.sign(ring);
      return made.toTX();
    };
    const { pow, time } = bcoin.Network.get('regtest');
    const before = { ...pow };
    // The difficulty of block 110 depends on how long it took to mine blocks 100 to 109.
    Object.assign(pow, { noRetargeting: false, targetReset: false, retargetInterval: 10, targetTimespan: 2_000 });
    try {
      const fork = host.chain.tip;
      time.offset = 3_600;
      await mineOnly(host, []);
      time.offset = 0;
      for (let height = 110; height <= 112; height++) await mineOnly(host, []);
      const [old, ...young] = [11, 12, 13].map((height) => paying([coinbaseAt(height)], FEE)) as [HostTransaction, ...HostTransaction[]];
      const [open, locked] = [110, 111].map((height) => lockedUntil(height, coinbaseAt(height - 109))) as [
        HostTransaction,
        HostTransaction
      ];
      for (const transaction of [old, ...young, open, locked]) await node.broadcast(transaction.toRaw());
      const short = await mineOnly(host, [], await mineOnly(host, [], fork));
      expect([short.height, host.chain.tip.height]).to.deep.equal([110, 110]);
      expect(idsOf(node)).to.deep.equal(namesOf(old, open));
    } finally {
      time.offset = 0;
      Object.assign(pow, before);
    }
  });

  it('drops what nobody has mined for two weeks, with what spends from it', async () => {
    const opened = await withCoins(2);
    const { host, node, coins } = opened;
    const [old, other] = coins.map((coin) => paying([coin], FEE)) as [HostTransaction, HostTransaction];
    const child = paying([old], FEE, COINBASE_SATS - FEE);
    for (const transaction of [old, child, other]) await node.broadcast(transaction.toRaw());
    const age = (transaction: HostTransaction, hours: number): void => {
      const entry = host.mempool.getEntry(hostHash(opened, transaction)) ?? expect.fail('an entry');
      (entry as { time: number }).time -= hours * 3_600;
    };
    age(old, 336.1);
    age(other, 335.9);
    await mineOnly(host, []);
    expect(idsOf(node)).to.deep.equal(namesOf(other));
  });

  it('trims a cluster that blocks leave too large when they come back', async () => {
    const { host, node, coins } = await withCoins(1);
    const chain: HostTransaction[] = [];
    let [last, value] = [coins[0] as HostTransaction, COINBASE_SATS];
    for (let i = 0; i < 70; i++) {
      last = paying([last], FEE, value);
      value -= FEE;
      chain.push(last);
    }
    const fork = host.chain.tip;
    await mineOnly(host, chain.slice(0, 30));
    for (const transaction of chain.slice(30)) await node.broadcast(transaction.toRaw());
    await mineOnly(host, [], await mineOnly(host, [], fork));
    expect(idsOf(node)).to.have.members(namesOf(...chain.slice(0, 64)));
  });

  it('trims a cluster that blocks leave heavier than 404,000 weight units when they come back', async () => {
    const { host, node, coins } = await withCoins(1);
    const anybody = Buffer.of(0x51);
    /** An output with so many bytes of data. */
    const dataOf = (length: number): Buffer => {
      const script = Buffer.alloc(6 + length);
      script.writeUInt32LE(length, script.write('6a4e', 'hex'));
      return script;
    };
    const value = COINBASE_SATS - 100 * FEE;
    const parent = signed(ring, coins, [
      [anybody, value],
      [dataOf(60_000), 0]
    ]);
    /** Spends the first output, pays `paid` to anybody, and has that many virtual bytes. */
    const spending = (from: HostTransaction, size: number, paid: number): HostTransaction => {
      const [input, output] = [
        { txid: from.hash(), index: 0 },
        { value: paid, script: anybody }
      ];
      const least = madeTransaction([input], [output, { value: 0, script: dataOf(1_000) }], 0).length;
      return bcoin.TX.fromRaw(madeTransaction([input], [output, { value: 0, script: dataOf(1_000 + size - least) }], 0));
    };
    const left = 404_000 / 4 - parent.getWeight() / 4;
    const poolWith = async (...transactions: readonly HostTransaction[]): Promise<string[]> => {
      const fork = host.chain.tip;
      await mineOnly(host, [parent]);
      for (const transaction of transactions) await node.broadcast(transaction.toRaw());
      await mineOnly(host, [], await mineOnly(host, [], fork));
      return idsOf(node);
    };
    const fits = spending(parent, left, value - 100 * FEE);
    expect(fits.getWeight() + parent.getWeight()).to.equal(404_000);
    expect(await poolWith(fits, spending(fits, 2_000, value - 200 * FEE))).to.have.members(namesOf(parent, fits));
    expect(await poolWith(spending(parent, left + 1, value - 300 * FEE))).to.deep.equal(namesOf(parent));
  });

  it('takes no more of a chain back from blocks than a cluster holds', async () => {
    const { host, node, coins } = await withCoins(1);
    const chain: HostTransaction[] = [];
    for (let [i, last] = [0, coins[0] as HostTransaction]; i < 70; i++, last = chain.at(-1) as HostTransaction)
      chain.push(paying([last], FEE, COINBASE_SATS - i * FEE));
    const fork = host.chain.tip;
    await mineOnly(host, chain);
    // It cannot stay without what it spends from.
    await node.broadcast(paying(chain.slice(-1), FEE, COINBASE_SATS - 70 * FEE).toRaw());
    let entered = 0;
    const subscription = node.pool.events$.subscribe(({ type }) => (entered += type === 'add' ? 1 : 0));
    await mineOnly(host, [], await mineOnly(host, [], fork));
    subscription.unsubscribe();
    expect(entered).to.equal(64);
    expect(idsOf(node)).to.have.members(namesOf(...chain.slice(0, 64)));
  });

  it('announces what it has checked, although the same transaction comes again with a wrong witness', async () => {
    const { host, node, coins } = await withCoins(2, { settings: { selfish: true } });
    const [good, other] = coins.map((coin) => paying([coin], FEE)) as [HostTransaction, HostTransaction];
    const announced: HostTransaction[] = [];
    host.broadcast = (transaction) => {
      announced.push(transaction);
      return Promise.resolve();
    };
    for (const raw of [good.toRaw(), withWitness(good.toRaw())]) await node.broadcast(raw);
    // bcoin's wallet and HTTP interface send this way.
    await host.sendTX(other);
    expect(announced.map((one) => one.toRaw().toString('hex'))).to.deep.equal(
      [good, good, other].map((one) => one.toRaw().toString('hex'))
    );
  });

  it('drops what pays the least when it is full, and then asks for more', async () => {
    const { host, node, coins } = await withCoins(3);
    const [cheap, middling, dear] = [500, 1_000, 2_000].map((fee, i) => paying([coins[i] as HostTransaction], fee));
    expect(node.pool.info()).to.include({ minFeeRate: 100, minRelayFeeRate: 100 });
    for (const transaction of [cheap, middling] as HostTransaction[]) await node.broadcast(transaction.toRaw());
    const { size } = node.pool.entries()[0] ?? expect.fail('an entry');
    (host.mempool.options as { maxSize: number }).maxSize = host.mempool.getSize() + SIGNATURES_DIFFER_BY;
    host.mempool.evictEntry([...host.mempool.map.values()][1] ?? expect.fail('an entry'));
    await node.broadcast((middling as HostTransaction).toRaw());
    // Nothing has to leave a pool that is as large as it may be.
    expect(node.pool.info().size).to.equal(2);
    await node.broadcast((dear as HostTransaction).toRaw());
    expect(idsOf(node)).to.deep.equal(namesOf(middling as HostTransaction, dear as HostTransaction));
    const { minFeeRate, minRelayFeeRate } = node.pool.info();
    // What the cheapest had paid, and the incremental rate.
    expect(minFeeRate).to.be.closeTo((500 * 1_000) / size + 100, 1);
    expect(minRelayFeeRate).to.equal(100);
    const error = await caught(node.broadcast((cheap as HostTransaction).toRaw()));
    expect((error as TransactionRefusedError).words?.message).to.match(/^mempool min fee not met, 500 < \d+$/);
    const { now } = Date;
    const rateInTwelveHours = (): number => {
      Date.now = () => now() + 12 * 3_600_000;
      const { minFeeRate: later } = node.pool.info();
      Date.now = now;
      return later;
    };
    // It falls only after a block.
    expect(rateInTwelveHours()).to.equal(minFeeRate);
    await mineOnly(host, []);
    expect(rateInTwelveHours()).to.be.closeTo(minFeeRate / 2, 2);
  });

  it('is full by the bytes of its transactions', async () => {
    const { host, node, coins } = await withCoins(2);
    const data = Buffer.concat([Buffer.from('6a4e50c30000', 'hex'), Buffer.alloc(50_000)]);
    const [cheap, dear] = coins.map((coin, i) =>
      signed(
        ring,
        [coin],
        [
          [ring.getAddress(), COINBASE_SATS - (i + 1) * 50_000],
          [data, 0]
        ]
      )
    ) as [HostTransaction, HostTransaction];
    (host.mempool.options as { maxSize: number }).maxSize = 100_000;
    await node.broadcast(cheap.toRaw());
    expect(node.pool.info().usage).to.be.greaterThan(50_000);
    await node.broadcast(dear.toRaw());
    expect(idsOf(node)).to.deep.equal(namesOf(dear));
    host.mempool.evictEntry([...host.mempool.map.values()][0] ?? expect.fail('an entry'));
    expect(node.pool.info().usage).to.equal(0);
  });

  it('drops a sixty-fourth of itself when it is full, so that the next ones find room', async () => {
    const { host, node, coins } = await withCoins(1);
    const [anybody, count, each] = [Buffer.of(0x51), 3 * 64 + 1, 10_000_000];
    const fan = signed(
      ring,
      coins,
      Array.from({ length: count }, () => [anybody, each] as const)
    );
    await mineOnly(host, [fan]);
    const spends = Array.from({ length: count }, (_, index) =>
      madeTransaction([{ txid: fan.hash(), index }], [{ value: each - FEE - index, script: Buffer.alloc(24, 0x51) }], 0)
    );
    const last = spends.pop() ?? expect.fail('a transaction');
    for (const spend of spends) await node.broadcast(spend);
    (host.mempool.options as { maxSize: number }).maxSize = host.mempool.getSize();
    await node.broadcast(last);
    // Not only the one in whose place the last one is.
    expect(node.pool.txids()).to.deep.equal([...spends.slice(3), last].map((raw) => bcoin.TX.fromRaw(raw).hash()));
  });

  it('drops what pays the least when blocks come back to a full pool', async () => {
    const { host, node, coins } = await withCoins(3);
    const [cheap, dear, pooled] = coins.map((coin, i) => paying([coin], [500, 2_000, 1_000][i] as number)) as [
      HostTransaction,
      HostTransaction,
      HostTransaction
    ];
    const fork = host.chain.tip;
    await mineOnly(host, [cheap, dear]);
    await node.broadcast(pooled.toRaw());
    (host.mempool.options as { maxSize: number }).maxSize = 2 * host.mempool.getSize() + SIGNATURES_DIFFER_BY;
    await mineOnly(host, [], await mineOnly(host, [], fork));
    expect(idsOf(node)).to.have.members(namesOf(pooled, dear));
    expect(node.pool.info().minFeeRate).to.be.greaterThan(100);
  });

  it('refuses a transaction that would be the first to be dropped', async () => {
    const { host, node, coins } = await withCoins(2);
    await node.broadcast(paying(coins.slice(0, 1), 2_000).toRaw());
    (host.mempool.options as { maxSize: number }).maxSize = host.mempool.getSize();
    const cheap = paying(coins.slice(1), 500);
    const error = await caught(node.broadcast(cheap.toRaw()));
    expect((error as TransactionRefusedError).words?.message).to.equal('mempool full');
    expect(node.pool.info().size).to.equal(1);
  });

  it("leaves to the operator what bcoin's settings say", async () => {
    const strict = await withCoins(1, { settings: { replaceByFee: false, rejectAbsurdFees: true, requireStandard: true } });
    await strict.node.broadcast(paying(strict.coins, FEE).toRaw());
    expect(((await caught(strict.node.broadcast(paying(strict.coins, 10 * FEE).toRaw()))) as TransactionRefusedError).message).to.equal(
      'txn-mempool-conflict'
    );
    expect(strict.node.pool.info().replaces).to.equal(false);
    await mine(strict.host, 101, undefined, ring.getAddress());
    const [block] = await mine(strict.host, 1, undefined, ring.getAddress());
    await mine(strict.host, 100);
    const absurd = paying([block?.txs[0] as HostTransaction], 1_000_000, 2_500_000_000);
    expect(((await caught(strict.node.broadcast(absurd.toRaw()))) as TransactionRefusedError).message).to.equal('absurdly-high-fee');
  });

  it('leaves siblings of version 3 in their places where nothing is replaced', async () => {
    for (const replaceByFee of [true, false]) {
      const { node, coins } = await withCoins(1, { settings: { replaceByFee } });
      const [half, last] = [COINBASE_SATS / 2, COINBASE_SATS / 2 - FEE];
      const outputs = [half, last].map((sats) => [ring.getAddress(), sats] as const);
      const parent = signed(ring, coins, outputs, 3);
      const [first, second] = [0, 1].map((index) =>
        signed(ring, [[parent, index]], [[ring.getAddress(), last - FEE - index * 10 * FEE]], 3)
      ) as [HostTransaction, HostTransaction];
      for (const transaction of [parent, first]) await node.broadcast(transaction.toRaw());
      const sent = node.broadcast(second.toRaw());
      if (replaceByFee) await sent;
      else expect(((await caught(sent)) as TransactionRefusedError).words?.reason).to.equal('TRUC-violation');
      expect(idsOf(node)).to.deep.equal(namesOf(parent, replaceByFee ? second : first));
    }
  });

  it('knows the relations of transactions that it has on the disk', async () => {
    const prefix = await newFolder();
    const options = { prefix, settings: { persistentMempool: true } };
    const first = await withCoins(1, options);
    const parent = paying(first.coins, FEE);
    const child = paying([parent], FEE, COINBASE_SATS - FEE);
    for (const transaction of [parent, child]) await first.node.broadcast(transaction.toRaw());
    await first.host.close();
    const { node } = await openNode(options);
    expect(idsOf(node)).to.have.members(namesOf(parent, child));
    const cheaper = paying(first.coins, FEE + 500);
    expect(((await caught(node.broadcast(cheaper.toRaw()))) as TransactionRefusedError).words?.message).to.match(/; 0.000015 < 0.00002$/);
    const replacement = paying(first.coins, 10 * FEE);
    await node.broadcast(replacement.toRaw());
    expect(idsOf(node)).to.deep.equal(namesOf(replacement));
  });

  it('hands on to peers what replaces, and replaces what comes from them', async () => {
    const port = await freePort();
    const { host, node, coins } = await withCoins(1, { settings: { listen: true, host: '127.0.0.1', port } });
    const peer = await openNode({ settings: { only: [`127.0.0.1:${port}`] } });
    for (let height = 1; height <= host.chain.tip.height; height++) {
      const entry = (await host.chain.getEntryByHeight(height)) ?? expect.fail('a block');
      const raw = (await host.chain.getRawBlock(entry.hash)) ?? expect.fail('a block');
      await peer.host.chain.add(bcoin.Block.fromRaw(raw));
    }
    await host.connect();
    await peer.host.connect();
    const [before, after] = [paying(coins, 60), paying(coins, 10 * FEE)];
    for (const one of [node, peer.node]) await one.broadcast(before.toRaw());
    await node.broadcast(after.toRaw());
    while (idsOf(peer.node)[0] === namesOf(before)[0]) {
      host.pool.announceTX(after);
      await setTimeout(10);
    }
    expect(idsOf(peer.node)).to.deep.equal(namesOf(after));
  });

  it("says so in bcoin's own sendrawtransaction when a transaction is refused", async () => {
    const { host, node, coins } = await withCoins(1, { settings: { noAuth: true } });
    const caller = new RpcCaller((host.http.http.address() as AddressInfo).port);
    const good = paying(coins, FEE);
    const hexOf = (transaction: HostTransaction): string => transaction.toRaw().toString('hex');
    for (let i = 0; i < 2; i++) expect(await caller.call('sendrawtransaction', hexOf(good))).to.equal(toDisplayHex(good.hash()));
    expect(idsOf(node)).to.deep.equal(namesOf(good));
    const cheaper = paying(coins, FEE - 1);
    expect(await caller.failure('sendrawtransaction', [hexOf(cheaper)])).to.deep.equal({
      code: -26,
      message: `insufficient fee, rejecting replacement ${toDisplayHex(cheaper.hash())}, less fees than conflicting txs; 0.00000999 < 0.00001`
    });
    expect(await caller.failure('sendrawtransaction', [hexOf(paying([cheaper], FEE, COINBASE_SATS - FEE + 1))])).to.deep.equal({
      code: -25,
      message: 'bad-txns-inputs-missingorspent'
    });
    expect(await caller.failure('sendrawtransaction', [`${hexOf(good)}00`])).to.include({ code: -22 });
    expect(await caller.failure('sendrawtransaction', ['xyz'])).to.have.property('code');
  });

  it('estimates fees from what it takes, below the relay fee of bcoin as well', async () => {
    const { host, node, coins } = await withCoins(1);
    const each = Math.floor((COINBASE_SATS - 100_000) / 600);
    // Of coins that anybody may spend: 600 signatures are seconds of work for a busy machine.
    const fan = signed(
      ring,
      coins,
      Array.from({ length: 600 }, () => [ANYBODY, each] as const)
    );
    await node.broadcast(fan.toRaw());
    await mine(host, 1);
    host.chain.synced = true;
    const spends = Array.from({ length: 600 }, (_, index) => signed([], [[fan, index]], [[ring.getAddress(), each - 60]]));
    for (let at = 0; at < spends.length; at += 100) {
      for (const spend of spends.slice(at, at + 100)) await node.broadcast(spend.toRaw());
      await mine(host, 1);
    }
    const estimate = node.estimateFee(2) ?? expect.fail('an estimate');
    const rate = (60 * 1_000) / Math.ceil((spends[0]?.getWeight() ?? 0) / 4);
    expect(estimate.rate).to.be.closeTo(rate, 20);
    // What was counted without the low rates is not taken over from the disk.
    const own = await openRegtestNode();
    host.fees?.inject(own.fees ?? expect.fail('estimates'));
    await own.close();
    expect(node.estimateFee(2)).to.deep.equal(estimate);
  });
});
