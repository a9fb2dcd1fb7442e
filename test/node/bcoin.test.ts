import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { BcoinNode } from '../../lib/node/bcoin';
import { BcoinHttp } from '../../lib/node/bcoin-http';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { UnreadableBlockError, UnsupportedNodeError } from '../../lib/node/errors';
import { fromHost } from '../../lib/node/host';
import { bcoin, type HostFullBlock, type TestFullNode } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { replaceStoredBlock } from '../support/bcoin/stored-block';
import { COINBASE_SATS, Coinbases, FEE_SATS } from '../support/chain/coinbases';
import { entryOf, mine, mineOnly, openRegtestNode } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { Subscription } from 'rxjs';
import type { HostEntry, HostTransaction } from '../../lib/node/host';
import type { ChainEvent } from '../../lib/node/types/chain';

/** The part of bcoin's fee estimator that counts which rates were confirmed within how many blocks. */
interface FeeEstimator {
  readonly feeStats: { readonly maxConfirms: number; record(blocks: number, rate: number): void; updateAverages(): void };
}

const RATE = 5_000;
/** Enough for an estimate. */
const CONFIRMED = 1_000;

describe('a bcoin node as the source of the service', () => {
  let host: TestFullNode;
  let node: BcoinNode;

  beforeEach(async () => {
    host = await openRegtestNode();
    node = new BcoinNode(host);
  });

  afterEach(() => host.close());

  it('names the network as Bitcoin Core does and gives its genesis hash in wire order', () => {
    expect(node.network.chain).to.equal('regtest');
    expect(Buffer.from(node.network.genesisHash).reverse().toString('hex')).to.equal(
      '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'
    );
    expect(node.network.addressPrefixes).to.deep.include(bcoin.Network.get('regtest').addressPrefix);
  });

  it('finds blocks by height and hash, on and off the active chain', async () => {
    const [, second] = (await mine(host, 2)) as [HostFullBlock, HostFullBlock];
    const fork = await mine(host, 1, (await host.chain.getEntryByHeight(1)) ?? undefined);
    const stale = fork[0] as HostFullBlock;
    expect(node.tip()).to.deep.equal({ hash: second.hash(), height: 2 });
    expect(await node.activeHash(2)).to.deep.equal(second.hash());
    expect(await node.activeHash(3)).to.equal(undefined);
    const entry = await node.entry(stale.hash());
    expect(entry).to.include({ height: 2, chainwork: 6n });
    expect(entry?.header).to.deep.equal(stale.toRaw().subarray(0, 80));
    expect(await node.rawBlock(stale.hash())).to.deep.equal(stale.toRaw());
    expect(await node.rawBlockPart(stale.hash(), 4, 32, stale.toRaw().length)).to.deep.equal(stale.toRaw().subarray(4, 36));
    expect(await node.entry(Buffer.alloc(32, 7))).to.equal(undefined);
    expect(await node.rawBlock(Buffer.alloc(32, 7))).to.equal(undefined);
    expect(await node.rawBlockPart(Buffer.alloc(32, 7), 4, 32, 300)).to.equal(undefined);
  });

  it('has all of its blocks also while a reset removes some of them', async () => {
    await mine(host, 40);
    const under = { way: true };
    const reset = host.chain.reset(2).finally(() => (under.way = false));
    while (under.way) expect(await node.hasAllBlocks()).to.equal(true);
    await reset;
  });

  it('says which block it cannot read', async () => {
    const [block] = (await mine(host, 1)) as [HostFullBlock];
    const length = block.toRaw().length;
    await replaceStoredBlock(host, block.hash(), (stored) => stored.subarray(0, -1));
    for (const error of [await caught(node.rawBlock(block.hash())), await caught(node.rawBlockPart(block.hash(), 81, 60, length))])
      expect(error)
        .to.be.instanceOf(UnreadableBlockError)
        .and.to.have.property('message')
        .that.includes(`block ${toDisplayHex(block.hash())} cannot be read`);
  });

  it('gives the median time past of a block', async () => {
    const blocks = await mine(host, 12);
    const times = blocks
      .slice(1)
      .map((block) => block.toRaw().readUInt32LE(68))
      .sort((a, b) => a - b);
    const entry = await node.entry((blocks[11] as HostFullBlock).hash());
    expect(entry?.medianTime).to.equal(times[5]);
  });

  it('makes the chain wait until each event is acknowledged', async () => {
    const events: ChainEvent[] = [];
    const subscription = node.chain$.subscribe((event) => {
      events.push(event);
    });
    const mined = mine(host, 1);
    while (events.length === 0) await new Promise(setImmediate);
    let added = false;
    const done = mined.then(() => {
      added = true;
    });
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    expect(added).to.equal(false);
    events[0]?.acknowledge();
    await done;
    expect(added).to.equal(true);
    subscription.unsubscribe();
  });

  it('lets the chain continue when a subscriber leaves with an event unacknowledged', async () => {
    let heard = 0;
    const subscription: Subscription = node.chain$.subscribe(() => {
      heard++;
    });
    const mined = mine(host, 1);
    while (heard === 0) await new Promise(setImmediate);
    subscription.unsubscribe();
    await mined;
    expect(host.chain.height).to.equal(1);
    await mine(host, 1);
    expect([host.chain.height, heard]).to.deep.equal([2, 1]);
  });

  it('reports a reorganization block by block, down to the fork and up again', async () => {
    await mine(host, 3);
    const told: string[] = [];
    const subscription = node.chain$.subscribe((event) => {
      told.push('block' in event ? `${event.type} ${event.block.height}` : event.type);
      event.acknowledge();
    });
    await mine(host, 3, (await host.chain.getEntryByHeight(1)) ?? undefined);
    expect(told).to.deep.equal(['disconnect 3', 'disconnect 2', 'connect 2', 'connect 3', 'reorganize', 'connect 4']);
    subscription.unsubscribe();
  });

  it('reports a block that comes before the pool drops its transactions, and one that goes once the pool has them back', async () => {
    const coinbases = await Coinbases.mine(host, 102);
    const fork = host.chain.tip;
    const pay = (): HostTransaction => coinbases.paying([coinbases.fresh()], COINBASE_SATS - FEE_SATS);
    // bcoin takes nothing back into a pool that is empty.
    const [payment, remaining] = [pay(), pay()];
    for (const transaction of [payment, remaining]) await host.mempool.addTX(transaction);
    const told: string[] = [];
    const subscription = node.chain$.subscribe((event) => {
      told.push(`${event.type}: ${host.mempool.map.size} in the pool`);
      event.acknowledge();
    });
    await mineOnly(host, [payment]);
    await mineOnly(host, [payment], await mineOnly(host, [], fork));
    subscription.unsubscribe();
    expect(told.slice(0, 3)).to.deep.equal(['connect: 2 in the pool', 'disconnect: 2 in the pool', 'connect: 2 in the pool']);
  });

  it('reports a reset, also while the pool has no connections', async () => {
    await mine(host, 3);
    const told: string[] = [];
    const subscription = node.chain$.subscribe((event) => {
      told.push(event.type);
      event.acknowledge();
    });
    await host.chain.reset(1);
    expect(told).to.deep.equal(['reset']);
    expect(node.tip().height).to.equal(1);
    subscription.unsubscribe();
  });

  it('reports that the chain has settled on another block after a silent reset', async () => {
    await mine(host, 3);
    const told: string[] = [];
    node.chain$.subscribe((event) => {
      told.push(`${event.type} ${node.tip().height}`);
      event.acknowledge();
    });
    await host.chain.replay(3);
    await until(() => told.length === 1);
    await host.chain.replay(2);
    await until(() => told.length === 2);
    expect(told).to.deep.equal(['settled 2', 'settled 1']);
  });

  it('knows of a reset before the chain sends its event', async () => {
    await mine(host, 30);
    const seen = new Set<boolean>();
    const done = host.chain.reset(1);
    while (node.tip().height > 1) {
      seen.add(node.resetting);
      await new Promise(setImmediate);
    }
    await done;
    expect([...seen]).to.include(true);
    expect(node.resetting).to.equal(false);
  });

  it('says whether it is synced: at once, and when that changes', async () => {
    await mine(host, 2);
    const heard: boolean[] = [];
    const subscription = node.synced$.subscribe((synced) => {
      heard.push(synced);
    });
    await host.chain.reset(1);
    expect(heard).to.deep.equal([true, false, true]);
    subscription.unsubscribe();
  });

  it('knows the API key', async () => {
    await host.close();
    host = await openRegtestNode({ settings: { apiKey: 'sesame' } });
    const http = new BcoinHttp(host);
    expect(http.isApiKey('sesame')).to.equal(true);
    expect(http.isApiKey('sesame ')).to.equal(false);
    expect(http.isApiKey('')).to.equal(false);
  });

  it('estimates a fee up to the greatest number of blocks that bcoin counts, and for no more', () => {
    const { feeStats } = host.fees as unknown as FeeEstimator;
    const { maxConfirms } = feeStats;
    expect(node.mostFeeBlocks).to.equal(maxConfirms);
    expect(node.estimateFee(1)).to.equal(undefined);
    for (let i = 0; i < CONFIRMED; i++) feeStats.record(maxConfirms, RATE);
    feeStats.updateAverages();
    const estimate = { rate: RATE, blocks: maxConfirms };
    expect([1, maxConfirms, maxConfirms + 1].map((blocks) => node.estimateFee(blocks))).to.deep.equal([estimate, estimate, undefined]);
  });

  it('refuses an SPV node', () => {
    const spv = new bcoin.SPVNode({ network: 'regtest', memory: true });
    expect(() => new BcoinNode(spv)).to.throw(UnsupportedNodeError, '--spv');
  });

  it('has the tips of all branches, the highest first, and says which one is not valid', async () => {
    const blocks = await mine(host, 6);
    const entryAt = async (height: number): Promise<HostEntry> => (await host.chain.getEntryByHeight(height)) ?? expect.fail('a block');
    const stale = [];
    for (const height of [4, 1, 3, 2]) stale.push(...(await mine(host, 1, await entryAt(height))));
    // Its coinbase creates too much, which is found once another block is on top of it.
    const job = await host.miner.cpu.createJob(await entryAt(5));
    job.attempt.fees = 1;
    job.refresh();
    const invalid = await job.mineAsync();
    await host.chain.add(invalid);
    expect(await caught(mine(host, 1, await entryOf(host, invalid)))).to.be.an('error');
    // bcoin itself does not go back to where it was.
    const [active] = await mine(host, 1, await entryOf(host, blocks.at(-1) ?? expect.fail('a block')));
    const tips = await node.chainTips();
    expect(tips.map(({ height }) => height)).to.deep.equal([7, 6, 5, 4, 3, 2]);
    const statusOf = (block: HostFullBlock | undefined): string | undefined =>
      tips.find(({ hash }) => block !== undefined && hash.equals(block.hash()))?.status;
    expect([active, invalid, ...stale].map(statusOf)).to.deep.equal(['active', 'invalid', ...stale.map(() => 'valid-fork')]);
  });

  it('no longer knows the entry of a block that the chain has forgotten', async () => {
    const [, second] = (await mine(host, 2)) as [HostFullBlock, HostFullBlock];
    expect(fromHost((await entryOf(host, second)).hash)).to.deep.equal(second.hash());
    await host.chain.reset(1);
    expect(await node.entry(second.hash())).to.equal(undefined);
  });
});
