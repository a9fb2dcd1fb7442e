import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { encodeRecord } from '../../lib/fleet/messages/record-codec';
import { UntrueRecordError } from '../../lib/fleet/reader/errors';
import { BcoinNode } from '../../lib/node/bcoin';
import { caught } from '../support/caught';
import { DroppingProxy } from '../support/dropping-proxy';
import { newFolder } from '../support/folders';
import { Nats, needsNats } from '../support/nats';
import { plainTransaction } from '../support/made-blocks';
import { mine, openRegtestNode } from '../support/regtest-node';
import { until } from '../support/until';
import { HandFedLog } from './hand-fed-log';
import { ReadNode, type ReadNodeOptions } from './read-node';
import type { TestFullNode } from '../support/bcoin';
import type { PoolAdd } from '../../lib/fleet/messages/records';
import type { BlockPoint } from '../../lib/node/types/chain';

const LENGTH = 8;

/** Longer than a question takes. */
const LATER_MS = 200;

/** A record about the pool that cannot be applied. */
const UNREADABLE: PoolAdd = {
  ...{ type: 'add', raw: Buffer.of(0), coins: [], size: 1, adjustedWeight: 4 },
  ...{ time: 1, height: 1, fee: 1, modifiedFee: 1, isUnbroadcast: false }
};

/** One that can. */
const POOLED: PoolAdd = {
  ...UNREADABLE,
  raw: plainTransaction([Buffer.alloc(32, 1)], 1),
  coins: [{ value: 2, script: Buffer.of(0x51) }]
};

describe('a reader', function () {
  this.timeout(60_000);
  let host: TestFullNode;
  let node: BcoinNode;
  let nats: Nats;
  let log: HandFedLog;
  let readers: ReadNode[];

  beforeEach(async function () {
    const program = needsNats(this);
    readers = [];
    nats = await Nats.open(program);
    host = await openRegtestNode();
    node = new BcoinNode(host);
    await mine(host, LENGTH);
    log = new HandFedLog(nats.url, node);
    await log.open();
  });

  afterEach(async () => {
    await Promise.all(readers.map((reader) => reader.close()));
    await log.close();
    await host.close();
    await nats.close();
  });

  async function open(options: Omit<ReadNodeOptions, 'nats'> = {}): Promise<ReadNode> {
    const reader = new ReadNode({ nats: log.access, ...options });
    readers.push(reader);
    return reader.open();
  }

  async function pointAt(height: number): Promise<BlockPoint> {
    return { height, hash: (await node.activeHash(height)) as Buffer };
  }

  const asked = (name: string): number => log.asked.filter((each) => each === name).length;

  it('takes in the chain of the log, the blocks below it from nodes, and follows it', async () => {
    await log.writeStart(3);
    const reader = await open();
    await reader.reaches(await pointAt(3));
    expect(reader.source.fleet.why).to.equal('no node has been heard of yet');
    for (let height = 4; height <= LENGTH; height++) await log.writeBlock(height);
    await reader.reaches(node.tip());
    const { hash } = node.tip();
    expect(reader.source.tip()).to.deep.equal(node.tip());
    expect(await reader.source.activeHash(LENGTH)).to.deep.equal(hash);
    expect(await reader.source.rawBlock(hash)).to.deep.equal(await node.rawBlock(hash));
    expect(await reader.source.entry(hash)).to.deep.include(await node.entry(hash));
    expect(asked('block')).to.equal(4);
    // The log has said what the soft forks are.
    expect(await reader.source.deployments(hash)).to.deep.equal(await node.deployments(hash));
    expect(await reader.source.deploymentInfo(hash)).to.deep.equal(await node.deploymentInfo(hash));
    expect(asked('deployments') + asked('deploymentInfo')).to.equal(0);
  });

  it('keeps of a record what it needs, and no view into all that came with it', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 1));
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    const { hash } = node.tip();
    const entry = await reader.source.entry(hash);
    const softForks = await reader.source.deploymentInfo(hash);
    expect([entry?.hash, entry?.header, softForks?.hash].map((kept) => kept?.buffer.byteLength)).to.deep.equal([32, 80, 32]);
  });

  it('follows a reorganization, and a chain that goes back', async () => {
    await log.writeStart(LENGTH);
    const reader = await open();
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
    await reader.reaches(await pointAt(LENGTH - 3));
    expect(moves).to.deep.equal(['disconnect', 'connect', 'connect', 'reset']);
  });

  it('begins anew when a block is to leave the chain that is not the last one', async () => {
    await log.writeStart(LENGTH);
    const reader = await open();
    await reader.reaches(node.tip());
    await log.writeDisconnect(LENGTH - 2, (await pointAt(LENGTH - 2)).hash);
    await until(() => asked('pool') === 2);
    await reader.reaches(await pointAt(LENGTH - 3));
    await log.writeDisconnect(LENGTH - 3, Buffer.alloc(32, 1));
    await until(() => asked('pool') === 3);
    await reader.reaches(await pointAt(LENGTH - 4));
  });

  it('lets nobody look at chain and pool together during a reorganization, unless that stops half way', async () => {
    await log.writeStart(LENGTH);
    const reader = await open();
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
    const reader = await open();
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
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 1));
    let end: () => void = () => undefined;
    const begun = reader.source.withChainLock(() => new Promise<void>((resolve) => (end = resolve)));
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    end();
    await begun;
  });

  it('asks a node for a block whose bytes in the log are not that block', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 1));
    const connect = await log.connectOf(LENGTH);
    const wrong = Buffer.from((await node.rawBlock(connect.hash)) as Buffer);
    // In the script of the coinbase: its witness, if it has one, is not covered by the Merkle root.
    const at = scanBlock(wrong).transactions[0]?.inputs[0]?.scriptOffset ?? 0;
    wrong[at + 1] = (wrong[at + 1] as number) ^ 1;
    await log.write({ type: 'block', hash: connect.hash, part: 0, parts: 1, bytes: wrong });
    await log.write({ ...connect, blockSequence: log.last });
    await reader.reaches(node.tip());
    expect(await reader.source.rawBlock(connect.hash)).to.deep.equal(await node.rawBlock(connect.hash));
    expect(reader.log.lines.join('\n')).to.include('A block of the log is left out');
  });

  it('reads on behind a block that is wrong in the log and that no node has', async () => {
    await log.writeStart(LENGTH - 1);
    log.keepBeating();
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 1));
    log.answers = { block: () => Promise.resolve(undefined) };
    const connect = await log.connectOf(LENGTH);
    await log.write({ type: 'block', hash: connect.hash, part: 0, parts: 1, bytes: Buffer.alloc(200) });
    await log.write({ ...connect, blockSequence: log.last });
    await until(() => reader.log.lines.join('\n').includes(`no node has block ${toDisplayHex(connect.hash)}`));
    await log.write(await log.resetTo(LENGTH - 2, 'rewind'));
    await reader.reaches(await pointAt(LENGTH - 2));
    await until(() => !reader.source.resetting);
  });

  it('reads on behind a reset to a block that all nodes have left since', async () => {
    await log.writeStart(LENGTH - 1);
    log.keepBeating();
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 1));
    const left = await log.resetTo(LENGTH);
    const hash = Buffer.alloc(32, 7);
    await log.write({ ...left, hash });
    await until(() => reader.log.lines.join('\n').includes(`no node has block ${toDisplayHex(hash)}`));
    await log.write(await log.resetTo(LENGTH));
    await reader.reaches(node.tip());
    await until(() => !reader.source.resetting);
  });

  it('stops answering when a block of the log cannot follow, and goes on once the log says what nodes know', async () => {
    await log.writeStart(LENGTH - 3);
    log.keepBeating();
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 3));
    await until(() => !reader.source.resetting);
    await log.writeBlock(LENGTH);
    await until(() => reader.source.resetting);
    // By itself: the log's last word is a block that nodes have.
    await reader.reaches(node.tip());
    await until(() => !reader.source.resetting);
    // One that no node has.
    const { header, ...connect } = await log.connectOf(LENGTH);
    const made = Buffer.from(header);
    made.writeUInt32LE(7, 68);
    await log.write({ ...connect, header: made });
    await until(() => reader.source.resetting);
    expect(reader.source.tip()).to.deep.equal(node.tip());
    await log.write(await log.resetTo(LENGTH, 'rewind'));
    await until(() => !reader.source.resetting);
    await reader.reaches(node.tip());
  });

  it('reads on behind records about the pool that cannot be applied, with the pool of the leader', async () => {
    await log.writeStart(LENGTH);
    log.keepBeating();
    const reader = await open();
    await reader.reaches(node.tip());
    for (let i = 0; i < 2; i++) await log.write(UNREADABLE);
    await until(() => asked('pool') === 3);
    await until(() => !reader.source.resetting && reader.source.fleet.why === undefined);
    expect(reader.source.tip()).to.deep.equal(node.tip());
  });

  for (const [what, hasOthers] of [
    ['others are in their places', true],
    ['nothing is in their places', false]
  ] as const)
    it(`begins anew when servers have lost records that it had read, and ${what}`, async () => {
      await log.writeStart(LENGTH - 1);
      const [server] = nats.servers;
      if (server === undefined) throw new Error('expected a server');
      const proxy = await DroppingProxy.open(server.port);
      const reader = await new ReadNode({ nats: parseNatsUrls(proxy.url) ?? expect.fail('a URL') }).open();
      readers.push(reader);
      await reader.reaches(await pointAt(LENGTH - 1));
      const [data, copy] = [join(server.folder, 'data'), join(server.folder, 'copy')];
      await cp(data, copy, { recursive: true });
      await log.writeBlock(LENGTH);
      await reader.reaches(node.tip());
      proxy.pull();
      proxy.cut();
      await server.kill();
      await rm(data, { recursive: true });
      await rename(copy, data);
      await server.start();
      // Until its own connection is there again.
      await until(() =>
        log.beginTerm().then(
          () => true,
          () => false
        )
      );
      const before = log.last;
      while (hasOthers && log.last <= before + 3) await log.writeBeat().catch(() => undefined);
      if (hasOthers) log.keepBeating();
      proxy.plug();
      await reader.reaches(await pointAt(LENGTH - 1));
      if (!hasOthers) log.keepBeating();
      await until(() => !reader.source.resetting);
      await proxy.close();
    });

  it('begins anew when a server has sent records that are not those of the log', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 1));
    for (let i = 0; i < 3; i++) await log.writeBeat();
    await until(() => reader.source.position.now.sequence === log.last);
    // The term's first records are in the places of two beats.
    await log.beginTerm(log.last - 1);
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    expect(reader.log.lines.join('\n')).to.include('is out of place');
    expect(asked('pool')).to.equal(2);
  });

  it('begins anew when records of a term go on behind one that is none of ours', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 1));
    await log.bus.jetstream.publish(log.subjects.record.chain, Buffer.from('hello'));
    await log.writeBeat();
    await until(() => asked('pool') === 2);
    expect(reader.log.lines.join('\n')).to.include('is out of place');
    await log.beginTerm();
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    expect(asked('pool')).to.equal(2);
  });

  it('reads on behind a record that says what is not true of its term', async () => {
    await log.writeStart(LENGTH);
    const reader = await open();
    await reader.reaches(node.tip());
    await log.writeBeat();
    await until(() => reader.source.position.now.sequence === log.last);
    await log.beginTerm(1);
    for (let i = 0; i < 2; i++) await log.writeBeat();
    // As a leader that was fenced.
    await log.beginTerm();
    log.keepBeating();
    await until(() => asked('pool') === 3 && reader.source.position.now.sequence === log.last);
    await until(() => !reader.source.resetting && reader.source.fleet.why === undefined);
    expect(asked('pool')).to.equal(3);
  });

  it('judges the records of another log by what it has read there', async () => {
    const reader = new ReadNode({ nats: log.access });
    readers.push(reader);
    for (const times of [1, 2]) {
      await log.writeStart(LENGTH);
      if (times === 1) await reader.open();
      await reader.reaches(node.tip());
      await until(() => reader.source.position.now.sequence === log.last);
      // What cannot be applied is passed over when it is read again; what is out of place is when it has been there before.
      await log.write(UNREADABLE);
      await until(() => asked('pool') === 4 * times - 2);
      await log.beginTerm(1);
      await log.writeBeat();
      await until(() => asked('pool') === 4 * times && reader.source.position.now.sequence === log.last);
      if (times === 1) await log.startAnew();
    }
  });

  it('takes the pool over from a leader alone that is at the end of this log', async () => {
    await log.writeStart(LENGTH);
    const { created: incarnation } = await log.bus.manager.streams.info(log.subjects.stream);
    const places = [
      { incarnation: 'of-yesterday', sequence: 7 },
      { incarnation, sequence: 0 },
      { incarnation, sequence: 1 }
    ];
    // The last one says that there is more, and has nothing.
    log.answers = {
      pool: ({ after }) => {
        const at = places.shift() ?? { incarnation, sequence: 1 };
        const isRight = places.length === 0 && after === 0;
        return Promise.resolve({ at, entries: isRight ? [{ number: 1, entry: POOLED }] : [], more: places.length === 0 });
      }
    };
    const reader = await open();
    await reader.reaches(node.tip());
    expect(reader.source.pool.txids()).to.have.length(1);
    // Another log, whose leader has nothing.
    log.answers = {};
    await log.startAnew();
    await log.writeStart(LENGTH - 1);
    await reader.reaches(await pointAt(LENGTH - 1));
    expect(reader.source.pool.txids()).to.deep.equal([]);
  });

  it('is in sync with beats that come after the records that the pool of the leader is already ahead by', async () => {
    await log.writeStart(LENGTH);
    const { created: incarnation } = await log.bus.manager.streams.info(log.subjects.stream);
    log.answers = { pool: () => Promise.resolve({ at: { incarnation, sequence: 3 }, entries: [], more: false }) };
    const { source } = await open();
    const synced: boolean[] = [];
    for (const sequence of [2, 3, 4]) {
      await log.writeBeat();
      await until(() => source.position.now.sequence === sequence);
      synced.push(source.synced);
    }
    expect(synced).to.deep.equal([false, false, true]);
  });

  it('goes on with the next term', async () => {
    await log.writeStart(LENGTH - 2);
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 2));
    await log.beginTerm();
    await log.writeBlock(LENGTH - 1);
    await reader.reaches(await pointAt(LENGTH - 1));
    expect(asked('pool')).to.equal(1);
  });

  it('goes on with another log that is shorter', async () => {
    await log.writeStart(LENGTH);
    log.keepBeating();
    const reader = await open();
    await reader.reaches(node.tip());
    await log.stopBeating();
    await log.startAnew();
    await log.writeStart(LENGTH - 4);
    await reader.reaches(await pointAt(LENGTH - 4));
    // The beats of the other log say nothing.
    expect([reader.source.resetting, reader.source.synced]).to.deep.equal([true, false]);
    log.keepBeating();
    for (let height = LENGTH - 3; height <= LENGTH; height++) await log.writeBlock(height);
    await reader.reaches(node.tip());
    await until(() => !reader.source.resetting);
  });

  it('goes on where it was after its servers were killed', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 1));
    const [server] = nats.servers;
    await server?.kill();
    await server?.start();
    await until(async () => {
      try {
        await log.bus.connection.flush();
        return true;
      } catch {
        return false;
      }
    });
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    // Once, at its start.
    expect(asked('pool')).to.equal(1);
  });

  it('leaves out a record that somebody else wrote into the log', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 1));
    await log.writeBeat();
    await until(() => reader.source.position.now.sequence === log.last);
    await log.bus.jetstream.publish(log.subjects.record.chain, 'hello');
    // As a leader that was fenced.
    await log.beginTerm();
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    expect(reader.log.lines.join('\n')).to.include('was not written by bcoin-rest');
    // It did not begin anew for it.
    expect(asked('pool')).to.equal(1);
  });

  /** The folder of a reader that is closed, and has read the log up to height 3. */
  async function readUpTo3(): Promise<string> {
    const folder = await newFolder();
    await log.writeStart(2);
    const before = await open({ folder });
    await before.reaches(await pointAt(2));
    await log.writeBlock(3);
    await before.reaches(await pointAt(3));
    await before.close();
    readers = [];
    return folder;
  }

  it('takes blocks that came while it was away from the log, and asks nodes for none of them', async () => {
    const folder = await readUpTo3();
    for (let height = 4; height <= LENGTH; height++) await log.writeBlock(height);
    const [blocks, headers] = [asked('block'), asked('headers')];
    const after = await open({ folder });
    await after.reaches(node.tip());
    expect(asked('block')).to.equal(blocks);
    expect(asked('headers')).to.equal(headers + 1);
  });

  it('leaves out what somebody else wrote into the log while it was away', async () => {
    const folder = await readUpTo3();
    for (let height = 4; height <= LENGTH; height++) {
      await log.bus.jetstream.publish(log.subjects.record.chain, 'hello');
      await log.writeBlock(height);
    }
    const blocks = asked('block');
    const after = await open({ folder });
    await after.reaches(node.tip());
    expect(asked('block')).to.equal(blocks);
  });

  it('takes blocks that came while it was away from a log that begins with them, and asks nodes where it begins later', async () => {
    const [folder, copy] = [await readUpTo3(), await newFolder()];
    await cp(folder, copy, { recursive: true });
    const read = log.last;
    for (let height = 4; height <= LENGTH; height++) await log.writeBlock(height);
    for (const [dropped, from, blocksAsked] of [
      [0, folder, 0],
      [1, copy, LENGTH - 3]
    ] as const) {
      await log.bus.manager.streams.update(log.subjects.stream, { max_msgs: log.last - read - dropped });
      const blocks = asked('block');
      const after = await open({ folder: from });
      await after.reaches(node.tip());
      expect(asked('block')).to.equal(blocks + blocksAsked);
    }
  });

  it('says once why it cannot follow the log, and tries again', async () => {
    const reader = await open();
    await until(() => reader.source.figures.connections > 2);
    expect(reader.source.fleet.why).to.equal('the log is empty: no node feeds it yet');
    expect(reader.log.lines.filter((line) => line.includes('cannot be followed'))).to.deep.equal([
      'warning The log of the fleet cannot be followed: the log is empty: no node feeds it yet.'
    ]);
    await log.writeStart(LENGTH);
    await reader.reaches(node.tip());
  });

  it('reads what a leader has written that gives its terms no ids', async () => {
    await log.writeStart(LENGTH);
    const reader = await open();
    await reader.reaches(node.tip());
    const body = await log.resetTo(LENGTH - 1, 'rewind');
    const record = { term: 9, termId: Buffer.alloc(0), termStart: 0, node: 'older', at: Date.now(), body };
    await log.bus.jetstream.publish(log.subjects.record.chain, encodeRecord(record));
    await reader.reaches(await pointAt(LENGTH - 1));
    expect(asked('pool')).to.equal(1);
  });

  it('asks nodes for what came while it was away where the log is another one', async () => {
    const folder = await newFolder();
    await log.writeStart(3);
    const before = await open({ folder });
    await before.reaches(await pointAt(3));
    await before.close();
    readers = [];
    await log.startAnew();
    await log.writeStart(LENGTH);
    const blocks = asked('block');
    const after = await open({ folder });
    await after.reaches(node.tip());
    expect(asked('block')).to.equal(blocks + LENGTH - 3);
  });

  it('keeps no block that it reads once while it catches up, but those that are asked for later', async () => {
    await log.writeStart(LENGTH);
    log.keepBeating();
    const reader = await open({ folder: await newFolder() });
    await reader.reaches(node.tip());
    await firstValueFrom(reader.source.synced$.pipe(filter((synced) => synced)));
    const { hash } = await pointAt(3);
    const blocks = asked('block');
    for (let times = 0; times < 2; times++) expect(await reader.source.rawBlock(hash)).to.deep.equal(await node.rawBlock(hash));
    expect(asked('block')).to.equal(blocks + 1);
    // With memory that is no longer than what is counted.
    const kept = await reader.source.rawBlock(hash);
    expect(kept?.buffer.byteLength).to.equal(kept?.length);
  });

  it('takes no block of a node that is another one, and asks once for what several want', async () => {
    await log.writeStart(LENGTH);
    const reader = await open();
    await reader.reaches(node.tip());
    const [one, other] = [(await pointAt(1)).hash, (await pointAt(2)).hash];
    log.answers = { block: () => node.rawBlock(other) };
    expect(await caught(reader.source.rawBlock(one))).to.be.instanceOf(UntrueRecordError);
    log.answers = {};
    const blocks = asked('block');
    const raws = await Promise.all([1, 2, 3].map(() => reader.source.rawBlock(one)));
    for (const raw of raws) expect(raw).to.deep.equal(await node.rawBlock(one));
    expect(asked('block')).to.equal(blocks + 1);
  });

  it('knows how far the chain of the node is that leads', async () => {
    await log.writeStart(LENGTH - 2);
    await log.writeBeat();
    const reader = await open();
    await reader.reaches(await pointAt(LENGTH - 2));
    await until(() => reader.source.position.now.sequence === log.last);
    expect(reader.source.progress()).to.deep.equal({ height: LENGTH, verified: 1 });
  });

  it('has what was broadcast in its pool once that has succeeded', async () => {
    await log.writeStart(LENGTH);
    const reader = await open();
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
    const reader = await open({ staleMs: 1_500 });
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
    const reader = await open();
    await reader.reaches(node.tip());
    expect(await reader.source.entry(old.hash)).to.deep.equal(await node.entry(old.hash));
    expect(await reader.source.rawBlock(old.hash)).to.deep.equal(await node.rawBlock(old.hash));
    expect(await reader.source.chainTips()).to.deep.equal(await node.chainTips());
    expect(await reader.source.entry(Buffer.alloc(32, 1))).to.equal(undefined);
    expect(await reader.source.rawBlock(Buffer.alloc(32, 1))).to.equal(undefined);
    expect((await reader.source.ownCall('getblockcount', [])).error?.message).to.include('--rest-rpc-forward');
  });
});
