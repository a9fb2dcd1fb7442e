// A real node feeds the log of a real server: what is in the log, and in which order.

import { expect } from 'chai';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { leaseHolder } from '../../lib/fleet/feed/lease';
import { Term } from '../../lib/fleet/feed/term';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { connectToNats, type NatsBus } from '../../lib/fleet/log/connection';
import { FleetLog, type LoggedRecord } from '../../lib/fleet/log/log-reader';
import { makeStream } from '../../lib/fleet/log/stream';
import { subjectsOf } from '../../lib/fleet/log/subjects';
import { decodeReply, encodeQuestion } from '../../lib/fleet/messages/questions';
import { clockSet } from '../support/process/clock';
import { Faucet } from '../support/chain/faucet';
import { FeedingNode, type FeedingNodeOptions } from '../support/fleet/feeding-node';
import { Nats, needsNats } from '../support/fleet/nats';
import { freePort, mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import { FoldedLog } from './folded-log';
import { HandFedLog } from './hand-fed-log';
import { encodeRecord } from '../../lib/fleet/messages/record-codec';
import type { Reset } from '../../lib/fleet/messages/records';

const SUBJECTS = subjectsOf('regtest');
const ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const NEVER = new AbortController().signal;

describe('a feeding node', () => {
  let program: string;
  let nats: Nats;
  let bus: NatsBus;
  const opened: FeedingNode[] = [];
  const closed: (() => Promise<void>)[] = [];

  before(async function () {
    program = needsNats(this);
    nats = await Nats.open(program);
    const access = parseNatsUrls(nats.url);
    if (access === undefined) throw new Error('expected the URL to be right');
    bus = await connectToNats(access, 'test');
  });

  afterEach(async () => {
    for (const node of opened.splice(0)) await node.close();
    for (const close of closed.splice(0)) await close();
    for (const name of [SUBJECTS.stream, `KV_${SUBJECTS.lease}`]) await bus.manager.streams.delete(name).catch(() => undefined);
  });

  after(async () => {
    await bus.connection.close();
    await nats.close();
  });

  async function openNode(options?: FeedingNodeOptions): Promise<FeedingNode> {
    const node = await FeedingNode.open(nats.url, options);
    opened.push(node);
    return node;
  }

  /** A server whose longest message has 4,096 bytes. */
  async function openSmall(): Promise<{ readonly url: string; readonly smallBus: NatsBus }> {
    const small = await Nats.open(program, 1, { maxPayload: 4_096 });
    const smallBus = await connectToNats(parseNatsUrls(small.url) ?? expect.fail('a URL'), 'test');
    closed.push(async () => {
      await smallBus.connection.close();
      await small.close();
    });
    return { url: small.url, smallBus };
  }

  /** Writes into the log what the leader has not written. */
  async function publishChain(body: Reset): Promise<void> {
    await bus.jetstream.publish(
      SUBJECTS.record.chain,
      encodeRecord({ term: 1, termId: Buffer.alloc(8), termStart: 0, node: 'other', at: Date.now(), body })
    );
  }

  async function leading(): Promise<FeedingNode> {
    const node = await openNode();
    await node.lead();
    return node;
  }

  /** The whole log, up to what has happened in the node that leads. */
  async function recordsOf(node: FeedingNode, on = bus): Promise<LoggedRecord[]> {
    const last = await node.feed.settled();
    const log = await FleetLog.open(on, SUBJECTS, node.source.network.genesisHash);
    const records: LoggedRecord[] = [];
    for await (const record of log.read(1, { silenceMs: 5_000, signal: NEVER })) {
      records.push(record);
      if (record.sequence >= last) break;
    }
    return records;
  }

  const typesOf = (records: readonly LoggedRecord[]): string[] => records.map(({ record: { body } }) => body.type);
  const withoutBeats = (records: readonly LoggedRecord[]): LoggedRecord[] => records.filter(({ record: { body } }) => body.type !== 'beat');

  /** Folds the log, and expects the node's chain and pool. */
  async function expectLogOf(node: FeedingNode): Promise<void> {
    await expectFolded(await recordsOf(node), node);
  }

  async function expectFolded(records: readonly LoggedRecord[], node: FeedingNode): Promise<void> {
    const folded = new FoldedLog();
    for (const { record, sequence } of records) folded.apply(record.body, sequence);
    await folded.expectEqual(node.source);
  }

  it('begins a log with its tip, its pool and a beat', async () => {
    const node = await openNode();
    const faucet = await Faucet.on(node.node, 2);
    await faucet.pays(ADDRESS, 10_000);
    await node.lead();
    const records = await recordsOf(node);
    expect(typesOf(records).slice(0, 4)).to.deep.equal(['reset', 'add', 'clear', 'beat']);
    const [reset, , clear, beat] = records.map(({ record: { body } }) => body);
    expect(reset).to.include({ height: 102, reason: 'start' });
    expect(clear).to.have.property('kept').with.length(1);
    expect(beat).to.have.nested.property('tip.height', 102);
    expect(beat).to.deep.include({ warnings: ['a warning'], release: '1.2.3', network: node.source.networkStatus() });
    await expectLogOf(node);
  });

  it('goes on with its beats when the clock of its machine is set back', async () => {
    const node = await leading();
    const last = await node.feed.settled();
    const log = await FleetLog.open(bus, SUBJECTS, node.source.network.genesisHash);
    const restore = clockSet(-3_600_000);
    try {
      for await (const { record } of log.read(last + 1, { silenceMs: 5_000, signal: NEVER })) {
        expect(record.body.type).to.equal('beat');
        break;
      }
    } finally {
      restore();
    }
  });

  it('writes each block before its connect, and transactions so that they are in the pool or a block at any moment', async () => {
    const node = await leading();
    const faucet = await Faucet.on(node.node, 6);
    for (let i = 0; i < 3; i++) {
      await faucet.pays(ADDRESS, 10_000 + i);
      await faucet.pays(ADDRESS, 20_000 + i);
      // What is mined before the log has it is in the log with its block alone.
      await node.feed.settled();
      await mine(node.node, 1);
    }
    await expectLogOf(node);
    const types = typesOf(withoutBeats(await recordsOf(node)));
    expect(types.slice(-6)).to.deep.equal(['add', 'add', 'block', 'connect', 'remove', 'remove']);
  });

  it('writes a reorganization as it happens', async () => {
    const node = await leading();
    const faucet = await Faucet.on(node.node, 2);
    const fork = node.node.chain.tip;
    await faucet.pays(ADDRESS, 10_000);
    await mine(node.node, 2);
    await mine(node.node, 3, fork);
    await expectLogOf(node);
    const types = typesOf(await recordsOf(node)).filter((type) => ['connect', 'disconnect'].includes(type));
    expect(types.slice(-5)).to.deep.equal(['disconnect', 'disconnect', 'connect', 'connect', 'connect']);
  });

  it('writes what has come back to the pool before it leaves the blocks, where it takes up its log again on another branch', async () => {
    const node = await openNode({ modernPool: true });
    await node.lead();
    const faucet = await Faucet.on(node.node, 2);
    const fork = node.node.chain.tip;
    await faucet.pays(ADDRESS, 10_000);
    await mine(node.node, 1);
    const last = await node.feed.settled();
    await node.stop();
    await mine(node.node, 2, fork);
    expect(node.source.pool.txids()).to.have.length(1);
    await node.lead();
    const records = await recordsOf(node);
    await expectFolded(records, node);
    const later = records.filter(({ sequence, record: { body } }) => sequence > last && body.type !== 'beat');
    expect(typesOf(later).slice(0, 2)).to.deep.equal(['add', 'disconnect']);
  });

  it('writes changes of fees that have no event', async () => {
    const node = await leading();
    const faucet = await Faucet.on(node.node, 1);
    const txid = await faucet.pays(ADDRESS, 10_000);
    await node.feed.settled();
    await node.node.rpc.execute({ method: 'prioritisetransaction', params: [txid, 0, 777] });
    await expectLogOf(node);
    expect(typesOf(withoutBeats(await recordsOf(node))).at(-1)).to.equal('change');
  });

  it('gives who starts the fees that the log has, so that one that changes back before the log has it is right', async () => {
    const node = await leading();
    const faucet = await Faucet.on(node.node, 1);
    const txid = await faucet.pays(ADDRESS, 10_000);
    await node.feed.settled();
    const prioritise = (fee: number): Promise<unknown> =>
      node.node.rpc.execute({ method: 'prioritisetransaction', params: [txid, 0, fee] });
    await prioritise(777);
    const question = encodeQuestion('pool', { after: 0, mostBytes: 2_000_000 });
    const { data } = await bus.connection.request(SUBJECTS.leader('pool'), question, { timeout: 5_000 });
    await prioritise(-777);
    const page = decodeReply('pool', data);
    const later = (await recordsOf(node)).filter(({ sequence }) => sequence > page.at.sequence);
    const fees = [...page.entries.map(({ entry }) => entry), ...later.map(({ record: { body } }) => body)].flatMap((said) =>
      said.type === 'add' || said.type === 'change' ? said.modifiedFee : []
    );
    expect(fees.at(-1)).to.equal(node.source.pool.entries()[0]?.modifiedFee);
  });

  it('goes on after NATS was away at its start, and says so', async () => {
    const port = await freePort();
    const node = await openNode();
    node.start({}, `nats://127.0.0.1:${port}`);
    await until(() => node.log.lines.length > 0);
    expect(node.log.lines[0]).to.match(/^warning The fleet is not fed: NATS at 127\.0\.0\.1:\d+ cannot be reached/);
    await mine(node.node, 1);
    const late = await Nats.open(program, 1, { port });
    await until(() => node.feed.isLeading);
    await node.stop();
    await late.close();
  });

  it('says so when NATS refuses its credentials, and goes on', async () => {
    const closed = await Nats.open(program, 1, { user: { name: 'me', password: 'right' } });
    const node = await openNode();
    node.start({}, closed.url.replace('nats://', 'nats://me:wrong@'));
    await until(() => node.log.lines.length > 0);
    expect(node.log.lines[0]).to.match(/^warning The fleet is not fed: NATS at .* refuses the credentials/);
    await mine(node.node, 1);
    await node.stop();
    await closed.close();
  });

  it('says so when NATS does not let it write the log, and leads once it may', async () => {
    const user = { name: 'me', password: 'right' };
    const port = await freePort();
    const strict = await Nats.open(program, 1, { port, user: { ...user, denied: SUBJECTS.log } });
    const node = await openNode();
    node.start({}, strict.url.replace('nats://', 'nats://me:right@'));
    await until(() => node.log.lines.some((line) => line.startsWith('warning')));
    expect(node.log.lines.at(-1)).to.match(
      /^warning The fleet is not fed: the log cannot be written: Permissions Violation for Publish to "rest\.regtest\.log\./
    );
    await strict.close();
    const lenient = await Nats.open(program, 1, { port, user });
    await until(() => node.feed.isLeading);
    await node.stop();
    await lenient.close();
  });

  it('says so when NATS does not let it hear readers any more, and answers them once it may', async () => {
    const user = { name: 'me', password: 'right' };
    const own = await Nats.open(program, 1, { user });
    const [server = expect.fail('no server')] = own.servers;
    const url = own.url.replace('nats://', 'nats://me:right@');
    const node = await openNode();
    await node.lead({}, url);
    await server.reload({ user: { ...user, deaf: 'rest.>' } });
    const isSaid = (): string[] =>
      node.log.lines.filter((line) => line.startsWith('warning NATS does not let this node hear what readers ask'));
    await until(() => isSaid().length > 0);
    await server.reload({ user });
    const { connection } = await connectToNats(parseNatsUrls(url) ?? expect.fail('a URL'), 'test');
    const answers = (subject: string): Promise<boolean> =>
      connection.request(subject, encodeQuestion('tips', {}), { timeout: 5_000 }).then(
        () => true,
        () => false
      );
    for (const subject of [SUBJECTS.node('tips'), SUBJECTS.leader('tips')]) await until(() => answers(subject));
    expect(isSaid()).to.have.length(1);
    expect(node.feed.isLeading).to.equal(true);
    await connection.close();
    await node.stop();
    await own.close();
  });

  it('leaves a stream alone that is no log of its network, and says so', async () => {
    await makeStream(bus, SUBJECTS, Buffer.alloc(32, 7));
    const node = await openNode();
    node.start();
    await until(() => node.log.lines.some((line) => line.startsWith('warning')));
    expect(node.log.lines.at(-1)).to.match(/^warning The fleet is not fed: the log REST_LOG_regtest is of another network/);
    await mine(node.node, 1);
    expect((await bus.manager.streams.info(SUBJECTS.stream)).state.messages).to.equal(0);
  });

  it('writes blocks in parts where the servers take no longer messages', async () => {
    const { url, smallBus } = await openSmall();
    const node = await openNode();
    await node.lead({}, url);
    const faucet = await Faucet.on(node.node, 100);
    for (let i = 0; i < 30; i++) await faucet.pays(ADDRESS, 10_000);
    await mine(node.node, 1);
    const records = await recordsOf(node, smallBus);
    await expectFolded(records, node);
    const parts = records.map(({ record: { body } }) => (body.type === 'block' ? body.parts : 0));
    expect(Math.max(...parts)).to.be.greaterThan(1);
    expect(node.log.lines.join('\n')).to.include('set max_payload to 8MB');
  });

  it('keeps a pool whose txids do not fit into one record', async () => {
    const { url, smallBus } = await openSmall();
    const node = await openNode();
    const faucet = await Faucet.on(node.node, 100);
    for (let i = 0; i < 100; i++) await faucet.pays(ADDRESS, 10_000);
    await node.lead({}, url);
    const records = await recordsOf(node, smallBus);
    await expectFolded(records, node);
    expect(typesOf(records).filter((type) => type === 'clear').length).to.be.greaterThan(1);
  });

  it('sends its pool in pages that the servers take', async () => {
    const { url, smallBus } = await openSmall();
    const node = await openNode();
    await node.lead({}, url);
    const faucet = await Faucet.on(node.node, 100);
    for (let i = 0; i < 30; i++) await faucet.pays(ADDRESS, 10_000);
    await node.feed.settled();
    const txids: Buffer[] = [];
    for (let [after, more] = [0, true]; more;) {
      const question = encodeQuestion('pool', { after, mostBytes: 2_000_000 });
      const page = decodeReply('pool', (await smallBus.connection.request(SUBJECTS.leader('pool'), question, { timeout: 5_000 })).data);
      for (const { number, entry } of page.entries) {
        txids.push(scanWholeTransaction(entry.raw).txid);
        after = number;
      }
      more = page.more;
    }
    expect(txids.map(toDisplayHex).sort()).to.deep.equal(node.source.pool.txids().map(toDisplayHex).sort());
    expect(txids).to.have.length(30);
  });

  it('makes a new log when its log was deleted', async () => {
    const node = await leading();
    await mine(node.node, 3);
    await node.feed.settled();
    const before = await bus.manager.streams.info(SUBJECTS.stream);
    await bus.manager.streams.delete(SUBJECTS.stream);
    await mine(node.node, 1);
    await until(async () => {
      const info = await bus.manager.streams.info(SUBJECTS.stream).catch(() => undefined);
      return info !== undefined && info.created !== before.created && node.feed.isLeading;
    });
    await mine(node.node, 1);
    await expectLogOf(node);
  });

  it('leaves the lead when it closes, and the next one goes on in the same log', async () => {
    const [a, b] = [await leading(), await openNode()];
    for (const block of await mine(a.node, 5)) await b.node.chain.add(block);
    await expectLogOf(a);
    b.start({ name: 'b' });
    await a.stop();
    await until(() => b.feed.isLeading);
    await mine(b.node, 1);
    await expectLogOf(b);
    const records = await recordsOf(b);
    expect([...new Set(records.map(({ record }) => record.node))]).to.deep.equal(['a', 'b']);
    expect(records.filter(({ record: { body } }) => body.type === 'reset')).to.have.length(1);
    expect(records.at(-1)?.record.term).to.be.greaterThan(records[0]?.record.term ?? Infinity);
  });

  it('leads on when somebody else has written into its log', async () => {
    const node = await leading();
    await mine(node.node, 1);
    await expectLogOf(node);
    await bus.jetstream.publish(SUBJECTS.record.chain, Buffer.from('no record of any kind'));
    await mine(node.node, 1);
    const { genesisHash } = node.source.network;
    await until(async () => {
      const word = await (await FleetLog.open(bus, SUBJECTS, genesisHash)).lastOfChain();
      return word !== undefined && word.tip.hash.equals(node.source.tip().hash);
    });
    // On a busy machine its lease may run out; nobody else is there who could take it.
    await until(() => node.feed.isLeading);
  });

  it('leads in a log in which somebody else wrote first, and says so', async () => {
    const node = await openNode();
    await mine(node.node, 1);
    await makeStream(bus, SUBJECTS, node.source.network.genesisHash);
    await bus.jetstream.publish(SUBJECTS.record.chain, Buffer.from('no record of any kind'));
    await node.lead();
    await node.feed.settled();
    const word = await (await FleetLog.open(bus, SUBJECTS, node.source.network.genesisHash)).lastOfChain();
    expect(word?.tip.hash).to.deep.equal(node.source.tip().hash);
    expect(node.log.lines.join('\n')).to.include('warning The log has nothing about the chain yet, but record 1 of the log');
  });

  it('never leads with less work, but does when the operator says so', async () => {
    const [a, b] = [await leading(), await openNode()];
    await mine(a.node, 5);
    await mine(b.node, 3);
    await a.feed.settled();
    await a.stop();
    // It is asked as well, and leaves the answer to the other one.
    a.start({ leads: false });
    await until(() => a.log.lines.filter((line) => line.includes('Connected to NATS')).length === 2);
    b.start({ name: 'b' });
    await until(() => b.log.lines.some((line) => line.includes('has less work behind it')));
    expect(b.feed.isLeading).to.equal(false);
    const question = encodeQuestion('rewind', { hash: b.source.tip().hash });
    const { data } = await bus.connection.request(SUBJECTS.leader('rewind'), question, { timeout: 20_000 });
    expect(decodeReply('rewind', data).sequence).to.be.greaterThan(1);
    await expectLogOf(b);
    const resets = (await recordsOf(b)).filter(({ record: { body } }) => body.type === 'reset');
    expect(resets.at(-1)?.record.body).to.include({ reason: 'rewind', height: 3 });
  });

  it('does not go back later because the operator had the log where it was already', async () => {
    const [a, b] = [await leading(), await openNode()];
    for (const block of await mine(a.node, 3)) await b.node.chain.add(block);
    await a.feed.settled();
    const question = encodeQuestion('rewind', { hash: a.source.tip().hash });
    await bus.connection.request(SUBJECTS.leader('rewind'), question, { timeout: 20_000 });
    await mine(b.node, 2);
    // As if another node had led meanwhile.
    await publishChain(await new HandFedLog(nats.url, b.source).resetTo(5));
    await until(() => a.log.lines.some((line) => line.includes('has less work behind it')));
    expect((await (await FleetLog.open(bus, SUBJECTS, a.source.network.genesisHash)).lastOfChain())?.tip).to.deep.equal(b.source.tip());
  });

  it('believes its own chain about the work of a block that it knows', async () => {
    const node = await leading();
    await mine(node.node, 3);
    await expectLogOf(node);
    await publishChain({ ...(await new HandFedLog(nats.url, node.source).resetTo(3)), chainwork: 2n ** 200n });
    await until(() => node.log.lines.some((line) => line.includes('no longer leads')));
    await until(() => node.feed.isLeading);
    await mine(node.node, 1);
    const { genesisHash } = node.source.network;
    await until(async () => {
      const word = await (await FleetLog.open(bus, SUBJECTS, genesisHash)).lastOfChain();
      return word?.tip.height === 4;
    });
  });

  it('keeps the lead while it is held up for longer than the lease lasts', async () => {
    const node = await openNode();
    await node.lead({ leaseMs: 1_000 });
    await mine(node.node, 1);
    const before = await recordsOf(node);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
    await mine(node.node, 1);
    await expectLogOf(node);
    expect((await recordsOf(node)).at(-1)?.record.term).to.equal(before.at(-1)?.record.term);
  });

  it('is part of a node that is started with --rest-feed', async () => {
    const served = await ServedNode.open({ settings: { 'rest-feed': nats.url, 'rest-feed-name': 'of-the-plugin' } });
    try {
      await mine(served.node, 2);
      await until(async () => {
        const found = await FleetLog.open(bus, SUBJECTS, served.source.network.genesisHash).catch(() => undefined);
        const word = await found?.lastOfChain().catch(() => undefined);
        return word?.tip.hash.equals(served.source.tip().hash) === true;
      });
      expect(await leaseHolder(bus, SUBJECTS)).to.equal('of-the-plugin');
      // The log has the block a moment before the node has been told so.
      await until(() => served.log.lines.some((line) => line.includes('This node leads the fleet')));
    } finally {
      await served.close();
    }
    expect(await leaseHolder(bus, SUBJECTS)).to.equal(undefined);
  });

  it('tells who waits for a term that has ended that nothing more of it comes into the log', async () => {
    const node = await openNode();
    const ended = AbortSignal.abort();
    const { log, source } = node;
    const term = await Term.open(
      {
        bus,
        subjects: SUBJECTS,
        node: source,
        name: 'a',
        number: 1,
        beat: () => undefined,
        mayRewindTo: undefined,
        logger: log,
        warnings: () => [],
        release: '1.2.3'
      },
      ended
    );
    await term.run(ended, () => undefined);
    expect(await term.reached(true)).to.equal(undefined);
  });

  it('stops leading when its chain was reset to less work', async () => {
    const node = await leading();
    const blocks = await mine(node.node, 5);
    await node.feed.settled();
    await node.node.chain.reset(2);
    await until(() => !node.feed.isLeading);
    const log = await FleetLog.open(bus, SUBJECTS, node.source.network.genesisHash);
    expect((await log.lastOfChain())?.tip.height).to.equal(5);
    for (const block of blocks.slice(2)) await node.node.chain.add(block);
    await until(() => node.feed.isLeading);
    await expectLogOf(node);
  });
});
