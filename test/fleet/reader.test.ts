import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { UntrueRecordError } from '../../lib/fleet/reader/errors';
import { caught } from '../support/expectations/caught';
import { newFolder } from '../support/process/folders';
import { needsNats } from '../support/fleet/nats';
import { mine } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import { HandFedReaders, LENGTH } from './hand-fed-readers';
import { POOLED } from './pool-add';
import type { BcoinNode } from '../../lib/node/bcoin';
import type { TestFullNode } from '../support/bcoin/bcoin';
import type { HandFedLog } from './hand-fed-log';

/** Longer than a question takes. */
const LATER_MS = 200;

describe('a reader', () => {
  let fed: HandFedReaders;
  let host: TestFullNode;
  let node: BcoinNode;
  let log: HandFedLog;

  beforeEach(async function () {
    fed = await HandFedReaders.open(needsNats(this));
    ({ host, node, log } = fed);
  });

  afterEach(() => fed.close());

  it('takes in the chain of the log, the blocks below it from nodes, and follows it', async () => {
    await log.writeStart(3);
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(3));
    expect(reader.source.fleet.why).to.equal('no node has been heard of yet');
    for (let height = 4; height <= LENGTH; height++) await log.writeBlock(height);
    await reader.reaches(node.tip());
    const { hash } = node.tip();
    expect(reader.source.tip()).to.deep.equal(node.tip());
    expect(await reader.source.activeHash(LENGTH)).to.deep.equal(hash);
    expect(await reader.source.rawBlock(hash)).to.deep.equal(await node.rawBlock(hash));
    expect(await reader.source.entry(hash)).to.deep.include(await node.entry(hash));
    expect(fed.asked('block')).to.equal(4);
    // The log has said what the soft forks are.
    expect(await reader.source.deployments(hash)).to.deep.equal(await node.deployments(hash));
    expect(await reader.source.deploymentInfo(hash)).to.deep.equal(await node.deploymentInfo(hash));
    expect(fed.asked('deployments') + fed.asked('deploymentInfo')).to.equal(0);
  });

  it('keeps of a record what it needs, and no view into all that came with it', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 1));
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    const { hash } = node.tip();
    const entry = await reader.source.entry(hash);
    const softForks = await reader.source.deploymentInfo(hash);
    expect([entry?.hash, entry?.header, softForks?.hash].map((kept) => kept?.buffer.byteLength)).to.deep.equal([32, 80, 32]);
  });

  it('follows a reorganization, and a chain that goes back', async () => {
    await log.writeStart(LENGTH);
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    const moves: string[] = [];
    reader.source.chain$.subscribe((move) => {
      moves.push(move.type);
      move.acknowledge();
    });
    const old = node.tip();
    const fork = await host.chain.getEntry(LENGTH - 1);
    await mine(host, 2, fork ?? undefined);
    await log.writeDisconnect(LENGTH, old.hash);
    for (const height of [LENGTH, LENGTH + 1]) await log.writeBlock(height);
    await reader.reaches(node.tip());
    expect(await reader.source.activeHash(LENGTH)).to.deep.equal(await node.activeHash(LENGTH));
    await log.write(await log.resetTo(LENGTH - 3, 'rewind'));
    await reader.reaches(await fed.pointAt(LENGTH - 3));
    expect(moves).to.deep.equal(['disconnect', 'connect', 'connect', 'reset']);
  });

  it('begins anew when a block is to leave the chain that is not the last one', async () => {
    await log.writeStart(LENGTH);
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    await log.writeDisconnect(LENGTH - 2, (await fed.pointAt(LENGTH - 2)).hash);
    await until(() => fed.asked('pool') === 2);
    await reader.reaches(await fed.pointAt(LENGTH - 3));
    await log.writeDisconnect(LENGTH - 3, Buffer.alloc(32, 1));
    await until(() => fed.asked('pool') === 3);
    await reader.reaches(await fed.pointAt(LENGTH - 4));
  });

  it('lets nobody look at chain and pool together during a reorganization, unless that stops half way', async () => {
    await log.writeStart(LENGTH);
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    const { source } = reader;
    const heightSeen = (): Promise<number> => source.withChainLock(() => source.tip().height);
    const fork = await host.chain.getEntry(LENGTH - 1);
    const old = node.tip();
    await mine(host, 2, fork ?? undefined);
    await log.writeDisconnect(LENGTH, old.hash);
    await until(() => source.tip().height === LENGTH - 1);
    const seen = heightSeen();
    for (const height of [LENGTH, LENGTH + 1]) await log.writeBlock(height);
    expect(await seen).to.equal(LENGTH + 1);
    await log.writeDisconnect(LENGTH + 1, node.tip().hash);
    await until(() => source.tip().height === LENGTH);
    log.keepBeating();
    expect(await heightSeen()).to.equal(LENGTH);
  });

  it('lets others look again when the log cannot be read on in the middle of a reorganization', async () => {
    await log.writeStart(LENGTH);
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    const { source } = reader;
    await log.writeDisconnect(LENGTH, node.tip().hash);
    await until(() => source.tip().height === LENGTH - 1);
    const seen = source.withChainLock(() => source.tip().height);
    await log.bus.manager.streams.delete(log.subjects.stream);
    expect(await seen).to.equal(LENGTH - 1);
  });

  it('follows the log on while what somebody has begun under its lock is at work', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 1));
    let end: () => void = () => undefined;
    const begun = reader.source.withChainLock(() => new Promise<void>((resolve) => (end = resolve)));
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    end();
    await begun;
  });

  it('is in sync with beats that come after the records that the pool of the leader is already ahead by', async () => {
    await log.writeStart(LENGTH);
    const { created: incarnation } = await log.bus.manager.streams.info(log.subjects.stream);
    log.answers = { pool: () => Promise.resolve({ at: { incarnation, sequence: 3 }, entries: [], more: false }) };
    const { source } = await fed.reader();
    const synced: boolean[] = [];
    for (const sequence of [2, 3, 4]) {
      await log.writeBeat();
      await until(() => source.position.now.sequence === sequence);
      synced.push(source.synced);
    }
    expect(synced).to.deep.equal([false, false, true]);
  });

  it('keeps no block that it reads once while it catches up, but those that are asked for later', async () => {
    await log.writeStart(LENGTH);
    log.keepBeating();
    const reader = await fed.reader({ folder: await newFolder() });
    await reader.reaches(node.tip());
    await firstValueFrom(reader.source.synced$.pipe(filter((synced) => synced)));
    const { hash } = await fed.pointAt(3);
    const blocks = fed.asked('block');
    for (let times = 0; times < 2; times++) expect(await reader.source.rawBlock(hash)).to.deep.equal(await node.rawBlock(hash));
    expect(fed.asked('block')).to.equal(blocks + 1);
    // With memory that is no longer than what is counted.
    const kept = await reader.source.rawBlock(hash);
    expect(kept?.buffer.byteLength).to.equal(kept?.length);
  });

  it('takes no block of a node that is another one, and asks once for what several want', async () => {
    await log.writeStart(LENGTH);
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    const [one, other] = [(await fed.pointAt(1)).hash, (await fed.pointAt(2)).hash];
    log.answers = { block: () => node.rawBlock(other) };
    expect(await caught(reader.source.rawBlock(one))).to.be.instanceOf(UntrueRecordError);
    log.answers = {};
    const blocks = fed.asked('block');
    const raws = await Promise.all([1, 2, 3].map(() => reader.source.rawBlock(one)));
    for (const raw of raws) expect(raw).to.deep.equal(await node.rawBlock(one));
    expect(fed.asked('block')).to.equal(blocks + 1);
  });

  it('knows how far the chain of the node is that leads', async () => {
    await log.writeStart(LENGTH - 2);
    await log.writeBeat();
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 2));
    await until(() => reader.source.position.now.sequence === log.last);
    expect(reader.source.progress()).to.deep.equal({ height: LENGTH, verified: 1 });
  });

  it('has what was broadcast in its pool once that has succeeded', async () => {
    await log.writeStart(LENGTH);
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    log.answers = {
      broadcast: () => {
        setTimeout(() => void log.write(POOLED), LATER_MS);
        return Promise.resolve({});
      }
    };
    await reader.source.broadcast(POOLED.raw);
    expect(reader.source.pool.txids()).to.have.length(1);
  });

  it('is not ready when no node was heard for too long, and is again when one is', async () => {
    await log.writeStart(LENGTH);
    log.keepBeating();
    const reader = await fed.reader({ staleMs: 1_500 });
    await reader.reaches(node.tip());
    await firstValueFrom(reader.source.synced$.pipe(filter((synced) => synced)));
    expect(reader.source.resetting).to.equal(false);
    await log.stopBeating();
    await firstValueFrom(reader.source.synced$.pipe(filter((synced) => !synced)));
    expect(reader.source.resetting).to.equal(true);
    log.keepBeating();
    await firstValueFrom(reader.source.synced$.pipe(filter((synced) => synced)));
    expect(reader.source.resetting).to.equal(false);
  });

  it('asks nodes for blocks off the chain, for parts of old blocks, and for what only nodes do', async () => {
    const old = node.tip();
    await mine(host, 2, (await host.chain.getEntry(LENGTH - 1)) ?? undefined);
    await log.writeStart(LENGTH + 1);
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    expect(await reader.source.entry(old.hash)).to.deep.equal(await node.entry(old.hash));
    expect(await reader.source.rawBlock(old.hash)).to.deep.equal(await node.rawBlock(old.hash));
    expect(await reader.source.chainTips()).to.deep.equal(await node.chainTips());
    expect(await reader.source.entry(Buffer.alloc(32, 1))).to.equal(undefined);
    expect(await reader.source.rawBlock(Buffer.alloc(32, 1))).to.equal(undefined);
    expect((await reader.source.ownCall('getblockcount', [])).error?.message).to.include('--rest-rpc-forward');
  });
});
