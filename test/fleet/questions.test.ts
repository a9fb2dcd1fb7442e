// What a node answers to readers, over a real server.

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { hash256 } from '../../lib/bitcoin/hash';
import { HEADER_LENGTH, previousHashOf } from '../../lib/bitcoin/header';
import { MissingOutputsError, NoNodeError, UnreadableTransactionError } from '../../lib/node/errors';
import { nodeAnswersOf } from '../../lib/fleet/feed/answers';
import { Responder } from '../../lib/fleet/feed/responder';
import { Nodes } from '../../lib/fleet/reader/nodes';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { connectToNats, type NatsBus } from '../../lib/fleet/log/connection';
import { FleetLog } from '../../lib/fleet/log/log-reader';
import { subjectsOf } from '../../lib/fleet/log/subjects';
import {
  decodeReply,
  encodeFault,
  encodeQuestion,
  encodeReply,
  FleetReplyError,
  type Asked,
  type QuestionName,
  type Replied
} from '../../lib/fleet/messages/questions';
import { decodeValue, encodeValue } from '../../lib/fleet/messages/values';
import { bcoin } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { nodeWith } from '../support/bcoin/changed-node';
import { FeedingNode } from '../support/fleet/feeding-node';
import { Nats, needsNats } from '../support/fleet/nats';
import { mine } from '../support/bcoin/regtest-node';
import { signed } from '../support/chain/signed';
import { until } from '../support/expectations/until';
import type { RequestError, Subscription } from '@nats-io/transport-node';
import type { NodeAnswers } from '../../lib/fleet/feed/answers';
import type { HostTransaction } from '../../lib/node/host';

const SUBJECTS = subjectsOf('regtest');
const NEVER = new AbortController().signal;
const UNKNOWN = Buffer.alloc(32, 9);

describe('questions to a node', () => {
  let nats: Nats;
  let bus: NatsBus;
  let node: FeedingNode;
  let follower: FeedingNode;
  const ring = bcoin.KeyRing.generate();
  const coinbases: HostTransaction[] = [];

  before(async function () {
    nats = await Nats.open(needsNats(this));
    const access = parseNatsUrls(nats.url);
    if (access === undefined) throw new Error('expected the URL to be right');
    bus = await connectToNats(access, 'test');
    node = await FeedingNode.open(nats.url);
    for (const { txs } of await mine(node.node, 110, undefined, ring.getAddress())) coinbases.push(txs[0] as HostTransaction);
    follower = await FeedingNode.open(nats.url);
    await node.lead();
  });

  after(async () => {
    await node.close();
    await follower.close();
    await bus.connection.close();
    await nats.close();
  });

  beforeEach(() => {
    heard.length = 0;
  });

  async function askAt<Name extends QuestionName>(subject: string, name: Name, asked: Asked<Name>): Promise<Replied<Name>> {
    const { data } = await bus.connection.request(subject, encodeQuestion(name, asked), { timeout: 5_000 });
    return decodeReply(name, data);
  }
  const ask = <Name extends QuestionName>(name: Name, asked: Asked<Name>): Promise<Replied<Name>> =>
    askAt(SUBJECTS.node(name), name, asked);
  const askLeader = <Name extends QuestionName>(name: Name, asked: Asked<Name>): Promise<Replied<Name>> =>
    askAt(SUBJECTS.leader(name), name, asked);

  /** Subjects at which something was asked. */
  const heard: string[] = [];
  /** Answers there in the place of a node. */
  const answering = (subject: string, reply: Buffer): Subscription =>
    bus.connection.subscribe(subject, {
      callback: (_, message) => {
        heard.push(subject);
        message.respond(reply);
      }
    });

  /** A payment of one coinbase to the same key. */
  const payment = (i: number): HostTransaction => signed(ring, [coinbases[i] as HostTransaction], [[ring.getAddress(), 4_999_990_000]]);

  it('about blocks are answered as the node itself would', async () => {
    const { source } = node;
    const { hash } = source.tip();
    const raw = await source.rawBlock(hash);
    expect(await ask('block', { hash })).to.deep.equal(raw);
    expect(await ask('part', { hash, offset: 10, length: 70, blockLength: raw?.length ?? 0 })).to.deep.equal(raw?.subarray(10, 80));
    expect(await ask('entry', { hash })).to.deep.equal(await source.entry(hash));
    expect(await ask('undo', { hash })).to.deep.equal(await source.undoRecord(hash));
    expect(await ask('deployments', { hash })).to.deep.equal(await source.deployments(hash));
    // Undefined and absent are the same.
    expect(await ask('deploymentInfo', { hash })).to.deep.equal(decodeValue(encodeValue(await source.deploymentInfo(hash)), 10_000));
    expect(await ask('tips', {})).to.deep.equal(await source.chainTips());
    for (const name of ['block', 'entry', 'deployments', 'deploymentInfo', 'undo'] as const) {
      expect(await ask(name, { hash: UNKNOWN }), name).to.equal(undefined);
    }
  });

  it('for headers are answered from the block on that both know', async () => {
    const [tenth, tip] = [await node.source.activeHash(10), node.source.tip()];
    const { height, headers } = await ask('headers', { locator: [UNKNOWN, tenth as Buffer], count: 2_000 });
    expect([height, headers.length]).to.deep.equal([11, 100 * 80]);
    expect(headers.subarray(-80)).to.deep.equal((await node.source.entry(tip.hash))?.header);
    const { height: lowest, headers: first } = await ask('headers', { locator: [], count: 2 });
    expect([lowest, first.length]).to.deep.equal([0, 2 * 80]);
    expect((await ask('headers', { locator: [tip.hash], count: 5 })).headers).to.have.length(0);
    // Who was on another branch goes on with the one that the node is on.
    const [stale] = await mine(node.node, 1, (await node.node.chain.getEntryByHeight(99)) ?? expect.fail('a block'));
    const { height: next } = await ask('headers', { locator: [stale?.hash() ?? expect.fail('a block'), tenth as Buffer], count: 1 });
    expect(next).to.equal(11);
  });

  it('for headers are answered with consecutive ones only, when the chain is reorganized meanwhile', async () => {
    const { node: host, source } = follower;
    await mine(host, 3);
    const fork = (await host.chain.getEntryByHeight(1)) ?? expect.fail('a block');
    const activeHash = async (height: number): Promise<Buffer | undefined> => {
      if (height === 3) await mine(host, 3, fork);
      return source.activeHash(height);
    };
    const parts = { node: nodeWith(source, { activeHash }), term: () => undefined, rewind: () => Promise.resolve(0) };
    const { height, headers } = await nodeAnswersOf(parts).headers({ locator: [], count: 10 });
    expect([height, headers.length]).to.deep.equal([0, 3 * HEADER_LENGTH]);
    expect(previousHashOf(headers.subarray(2 * HEADER_LENGTH))).to.deep.equal(hash256(headers.subarray(HEADER_LENGTH, 2 * HEADER_LENGTH)));
  });

  it('to broadcast are answered with the record of the log by which the transaction is in its pool', async () => {
    const transaction = payment(0);
    const { sequence = 0 } = await askLeader('broadcast', { raw: transaction.toRaw(), mostRate: 0 });
    expect(sequence).to.be.greaterThan(0);
    const log = await FleetLog.open(bus, SUBJECTS, node.source.network.genesisHash);
    const added: Buffer[] = [];
    for await (const { record, sequence: at } of log.read(1, { silenceMs: 5_000, signal: NEVER })) {
      if (record.body.type === 'add') added.push(record.body.raw);
      if (at >= sequence) break;
    }
    expect(added.some((raw) => raw.equals(transaction.toRaw()))).to.equal(true);
  });

  it('to broadcast what the node refuses are answered with its reason, and its kind of error', async () => {
    const missing = signed(ring, [payment(1)], [[ring.getAddress(), 1_000]]);
    expect(await caught(ask('broadcast', { raw: missing.toRaw(), mostRate: 0 }))).to.be.instanceOf(MissingOutputsError);
    expect(await caught(ask('broadcast', { raw: Buffer.from('00', 'hex'), mostRate: 0 }))).to.be.instanceOf(UnreadableTransactionError);
  });

  it('about transactions, packages and calls of the node are answered', async () => {
    const raws = [payment(2).toRaw()];
    expect(await ask('try', { raws })).to.deep.equal(await node.source.tryTransactions(raws));
    expect(await ask('submit', { raws, mostRate: 0 })).to.include.keys('sequence');
    expect((await ask('call', { method: 'getblockcount', params: [] })).result).to.equal(110);
    expect((await ask('call', { method: 'nothing', params: [] })).error).to.have.property('code');
  });

  it("for the log's pool are answered by the leader, in pages", async () => {
    for (let i = 3; i < 6; i++) await askLeader('broadcast', { raw: payment(i).toRaw(), mostRate: 0 });
    const pages = [];
    for (let [after, more] = [0, true]; more;) {
      const page = await askLeader('pool', { after, mostBytes: 1 });
      pages.push(page);
      [after, more] = [page.entries.at(-1)?.number ?? after, page.more];
    }
    const entries = pages.flatMap((page) => page.entries.map(({ entry }) => entry.raw));
    expect(entries).to.deep.equal(node.source.pool.txids().map((txid) => node.source.pool.transaction(txid)));
    const log = await FleetLog.open(bus, SUBJECTS, node.source.network.genesisHash);
    expect(pages[0]?.at).to.deep.include({ incarnation: log.incarnation });
  });

  it('that have effects are asked once, unless nobody has begun with them', async () => {
    const subjects = subjectsOf('simnet');
    const nodes = new Nodes(subjects, () => bus.connection);
    const call = (): Promise<unknown> => nodes.askOnce('call', { method: 'prioritisetransaction', params: [] });
    const [leader, any] = [subjects.leader('call'), subjects.node('call')];
    expect(await caught(call())).to.be.instanceOf(NoNodeError);
    answering(any, encodeReply('call', { result: 7, error: null }));
    expect(await call()).to.deep.equal({ result: 7, error: null });
    expect(heard.splice(0)).to.deep.equal([any]);
    for (const code of ['busy', 'not leading'] as const) {
      const refusing = answering(leader, encodeFault(new FleetReplyError(code, 'it has not begun')));
      expect(await call()).to.deep.equal({ result: 7, error: null });
      expect(heard.splice(0)).to.deep.equal([leader, any]);
      refusing.unsubscribe();
    }
    answering(leader, encodeFault(new FleetReplyError('failed', 'the disk is full')));
    expect(await caught(call())).to.be.instanceOf(FleetReplyError);
    expect(heard).to.deep.equal([leader]);
    expect(nodes.asked).to.deep.equal({ call: 5 });
  });

  it('about blocks are asked of the leader where another node does not know, and of nobody else where one refuses them', async () => {
    const subjects = subjectsOf('simnet');
    const nodes = new Nodes(subjects, () => bus.connection);
    const [leader, any] = [subjects.leader('block'), subjects.node('block')];
    const unknowing = answering(any, encodeReply('block', undefined));
    answering(leader, encodeReply('block', Buffer.of(7)));
    expect(await nodes.ask('block', { hash: UNKNOWN })).to.deep.equal(Buffer.of(7));
    expect(heard.splice(0)).to.deep.equal([any, any, leader]);
    unknowing.unsubscribe();
    answering(any, encodeFault(new FleetReplyError('refused', 'expected a hash')));
    expect(await caught(nodes.ask('block', { hash: UNKNOWN }))).to.be.instanceOf(FleetReplyError);
    expect(heard).to.deep.equal([any]);
  });

  it('are answered while calls wait for the next block', async () => {
    const subjects = subjectsOf('testnet');
    let begun = 0;
    const never = (): Promise<never> => {
      begun++;
      return new Promise(() => undefined);
    };
    const responder = new Responder(bus, subjects, {
      call: never,
      tips: () => Promise.resolve([])
    } as unknown as NodeAnswers);
    const question = encodeQuestion('call', { method: 'getworklp', params: [] });
    for (let i = 0; i < 20; i++) bus.connection.publish(subjects.node('call'), question, { reply: 'nobody' });
    await until(() => begun === 16);
    const { data } = await bus.connection.request(subjects.node('tips'), encodeQuestion('tips', {}), { timeout: 5_000 });
    expect(data.length).to.be.above(0);
    expect(begun).to.equal(16);
    responder.close();
  });

  it('are not begun with when nobody waits for the reply, or once the node answers no more', async () => {
    const subjects = subjectsOf('testnet');
    const begun: (() => void)[] = [];
    const wait = (): Promise<never[]> => new Promise((resolve) => begun.push(() => resolve([])));
    const responder = new Responder(bus, subjects, { call: wait, tips: wait } as unknown as NodeAnswers);
    const names = ['call', 'tips'] as const;
    const publish = (options?: { readonly reply: string }): void => {
      for (const name of names) bus.connection.publish(subjects.node(name), encodeValue({}), options);
    };
    publish();
    await bus.connection.flush();
    expect(begun).to.have.length(0);
    for (let i = 0; i < 20; i++) publish({ reply: 'nobody' });
    await until(() => begun.length === 32);
    responder.close();
    for (const end of begun.splice(0, 31)) end();
    await setImmediate();
    expect(begun).to.have.length(1);
    begun[0]?.();
  });

  it('of all kinds are refused when they are no questions, and the node goes on', async () => {
    const { hash } = node.source.tip();
    const wrong: readonly (readonly [QuestionName, unknown])[] = [
      ['block', {}],
      ['block', { hash: 'text' }],
      ['block', { hash: Buffer.alloc(31) }],
      ['part', { hash, offset: -1, length: 1, blockLength: 10 }],
      ['part', { hash, offset: 1, length: 10, blockLength: 10 }],
      ['headers', { locator: [1], count: 1 }],
      ['headers', { locator: [], count: 2_001 }],
      ['headers', { locator: Array.from({ length: 65 }, () => hash), count: 1 }],
      ['headers', { locator: [], count: 1.5 }],
      ['broadcast', { raw: 7 }],
      ['broadcast', { raw: Buffer.alloc(10) }],
      ['broadcast', { raw: Buffer.alloc(4_000_001), mostRate: 0 }],
      ['try', { raws: Array.from({ length: 26 }, () => Buffer.alloc(1)) }],
      ['call', { method: 7 }],
      ['call', { method: 'x'.repeat(101) }]
    ];
    for (const [name, asked] of wrong) {
      const { data } = await bus.connection.request(SUBJECTS.node(name), encodeValue(asked), { timeout: 5_000 });
      expect(() => decodeReply(name, data), name)
        .to.throw(FleetReplyError)
        .with.property('code', 'refused');
    }
    for (const bytes of [Buffer.from('hello'), Buffer.alloc(0), encodeValue(null)]) {
      const { data } = await bus.connection.request(SUBJECTS.node('block'), bytes, { timeout: 5_000 });
      expect(() => decodeReply('block', data)).to.throw(FleetReplyError);
    }
    expect(await ask('entry', { hash })).to.deep.equal(await node.source.entry(hash));
  });

  it('to the leader are answered while the node leads, and not afterwards', async () => {
    const subjects = subjectsOf('testnet');
    const responder = new Responder(bus, subjects, { tips: () => Promise.resolve([]) } as unknown as NodeAnswers);
    const answers = (): Promise<boolean> =>
      askAt(subjects.leader('tips'), 'tips', {}).then(
        () => true,
        (error: unknown) => !(error as RequestError).isNoResponders()
      );
    const answered: boolean[] = [];
    for (const leads of [false, true, true, false, true]) {
      responder.lead(leads);
      answered.push(await answers());
    }
    responder.close();
    answered.push(await answers());
    expect(answered).to.deep.equal([false, true, true, false, true, false]);
  });

  it('are answered with the reason where the reply is longer than the servers take', async function () {
    const small = await Nats.open(needsNats(this), 1, { maxPayload: 4_096 });
    const smallBus = await connectToNats(parseNatsUrls(small.url) ?? expect.fail('a URL'), 'test');
    const answers = { block: () => Promise.resolve(Buffer.alloc(5_000)) } as unknown as NodeAnswers;
    const responder = new Responder(smallBus, SUBJECTS, answers);
    const question = encodeQuestion('block', { hash: UNKNOWN });
    const { data } = await smallBus.connection.request(SUBJECTS.node('block'), question, { timeout: 5_000 });
    expect(() => decodeReply('block', data)).to.throw(FleetReplyError, /^the reply of 50\d\d bytes is above NATS' max_payload$/);
    responder.close();
    await smallBus.connection.close();
    await small.close();
  });

  it('beyond those that may wait are answered: busy', async () => {
    const { hash } = node.source.tip();
    const replies = await Promise.allSettled(Array.from({ length: 2_000 }, () => ask('block', { hash })));
    const faults = replies.flatMap((reply) => (reply.status === 'rejected' ? [reply.reason as FleetReplyError] : []));
    for (const fault of faults) expect(fault).to.have.property('code', 'busy');
    expect(faults.length).to.be.greaterThan(0).and.lessThan(replies.length);
  });
});
