// A reader whose log has what is wrong, or is another one than before.

import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { DroppingProxy } from '../support/fleet/dropping-proxy';
import { needsNats, type Nats } from '../support/fleet/nats';
import { until } from '../support/expectations/until';
import { HandFedReaders, LENGTH } from './hand-fed-readers';
import { POOLED, UNREADABLE } from './pool-add';
import type { BcoinNode } from '../../lib/node/bcoin';
import type { HandFedLog } from './hand-fed-log';

describe('a reader of a log', () => {
  let fed: HandFedReaders;
  let node: BcoinNode;
  let nats: Nats;
  let log: HandFedLog;

  beforeEach(async function () {
    fed = await HandFedReaders.open(needsNats(this));
    ({ node, nats, log } = fed);
  });

  afterEach(() => fed.close());

  it('asks a node for a block whose bytes in the log are not that block', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 1));
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
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 1));
    log.answers = { block: () => Promise.resolve(undefined) };
    const connect = await log.connectOf(LENGTH);
    await log.write({ type: 'block', hash: connect.hash, part: 0, parts: 1, bytes: Buffer.alloc(200) });
    await log.write({ ...connect, blockSequence: log.last });
    await until(() => reader.log.lines.join('\n').includes(`no node has block ${toDisplayHex(connect.hash)}`));
    await log.write(await log.resetTo(LENGTH - 2, 'rewind'));
    await reader.reaches(await fed.pointAt(LENGTH - 2));
    await until(() => !reader.source.resetting);
  });

  it('reads on behind a reset to a block that all nodes have left since', async () => {
    await log.writeStart(LENGTH - 1);
    log.keepBeating();
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 1));
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
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 3));
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
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    for (let i = 0; i < 2; i++) await log.write(UNREADABLE);
    await until(() => fed.asked('pool') === 3);
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
      const reader = await fed.reader({ nats: parseNatsUrls(proxy.url) ?? expect.fail('a URL') });
      await reader.reaches(await fed.pointAt(LENGTH - 1));
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
      await reader.reaches(await fed.pointAt(LENGTH - 1));
      if (!hasOthers) log.keepBeating();
      await until(() => !reader.source.resetting);
      await proxy.close();
    });

  it('begins anew when a server has sent records that are not those of the log', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 1));
    for (let i = 0; i < 3; i++) await log.writeBeat();
    await until(() => reader.source.position.now.sequence === log.last);
    // The term's first records are in the places of two beats.
    await log.beginTerm(log.last - 1);
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    expect(reader.log.lines.join('\n')).to.include('is out of place');
    expect(fed.asked('pool')).to.equal(2);
  });

  it('begins anew when records of a term go on behind one that is none of ours', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 1));
    await log.bus.jetstream.publish(log.subjects.record.chain, Buffer.from('hello'));
    await log.writeBeat();
    await until(() => fed.asked('pool') === 2);
    expect(reader.log.lines.join('\n')).to.include('is out of place');
    await log.beginTerm();
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    expect(fed.asked('pool')).to.equal(2);
  });

  it('reads on behind a record that says what is not true of its term', async () => {
    await log.writeStart(LENGTH);
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    await log.writeBeat();
    await until(() => reader.source.position.now.sequence === log.last);
    await log.beginTerm(1);
    for (let i = 0; i < 2; i++) await log.writeBeat();
    // As a leader that was fenced.
    await log.beginTerm();
    log.keepBeating();
    await until(() => fed.asked('pool') === 3 && reader.source.position.now.sequence === log.last);
    await until(() => !reader.source.resetting && reader.source.fleet.why === undefined);
    expect(fed.asked('pool')).to.equal(3);
  });

  it('judges the records of another log by what it has read there', async () => {
    await log.writeStart(LENGTH);
    const reader = await fed.reader();
    for (const times of [1, 2]) {
      await reader.reaches(node.tip());
      await until(() => reader.source.position.now.sequence === log.last);
      // What cannot be applied is passed over when it is read again; what is out of place is when it has been there before.
      await log.write(UNREADABLE);
      await until(() => fed.asked('pool') === 4 * times - 2);
      await log.beginTerm(1);
      await log.writeBeat();
      await until(() => fed.asked('pool') === 4 * times && reader.source.position.now.sequence === log.last);
      await log.startAnew();
      await log.writeStart(LENGTH);
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
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    expect(reader.source.pool.txids()).to.have.length(1);
    // Another log, whose leader has nothing.
    log.answers = {};
    await log.startAnew();
    await log.writeStart(LENGTH - 1);
    await reader.reaches(await fed.pointAt(LENGTH - 1));
    expect(reader.source.pool.txids()).to.deep.equal([]);
  });

  it('goes on with the next term', async () => {
    await log.writeStart(LENGTH - 2);
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 2));
    await log.beginTerm();
    await log.writeBlock(LENGTH - 1);
    await reader.reaches(await fed.pointAt(LENGTH - 1));
    expect(fed.asked('pool')).to.equal(1);
  });

  it('goes on with another log that is shorter', async () => {
    await log.writeStart(LENGTH);
    log.keepBeating();
    const reader = await fed.reader();
    await reader.reaches(node.tip());
    await log.stopBeating();
    await log.startAnew();
    await log.writeStart(LENGTH - 4);
    await reader.reaches(await fed.pointAt(LENGTH - 4));
    // The beats of the other log say nothing.
    expect([reader.source.resetting, reader.source.synced]).to.deep.equal([true, false]);
    log.keepBeating();
    for (let height = LENGTH - 3; height <= LENGTH; height++) await log.writeBlock(height);
    await reader.reaches(node.tip());
    await until(() => !reader.source.resetting);
  });

  it('goes on where it was after its servers were killed', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 1));
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
    expect(fed.asked('pool')).to.equal(1);
  });

  it('leaves out a record that somebody else wrote into the log', async () => {
    await log.writeStart(LENGTH - 1);
    const reader = await fed.reader();
    await reader.reaches(await fed.pointAt(LENGTH - 1));
    await log.writeBeat();
    await until(() => reader.source.position.now.sequence === log.last);
    await log.bus.jetstream.publish(log.subjects.record.chain, 'hello');
    // As a leader that was fenced.
    await log.beginTerm();
    await log.writeBlock(LENGTH);
    await reader.reaches(node.tip());
    expect(reader.log.lines.join('\n')).to.include('was not written by bcoin-rest');
    // It did not begin anew for it.
    expect(fed.asked('pool')).to.equal(1);
  });

  it('says once why it cannot follow the log, and tries again', async () => {
    const reader = await fed.reader();
    await until(() => reader.source.figures.connections > 2);
    expect(reader.source.fleet.why).to.equal('the log is empty: no node feeds it yet');
    expect(reader.log.lines.filter((line) => line.includes('cannot be followed'))).to.deep.equal([
      'warning The log of the fleet cannot be followed: the log is empty: no node feeds it yet.'
    ]);
    await log.writeStart(LENGTH);
    await reader.reaches(node.tip());
  });
});
