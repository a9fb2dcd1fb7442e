import { spawn, spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { Subscriber } from 'zeromq';
import { hash256, toDisplayHex } from '../../lib/bitcoin/hash';
import { IndexUnavailableError } from '../../lib/index/errors';
import { Notifications } from '../../lib/zmq/notifications';
import { Sockets } from '../../lib/zmq/sockets';
import { parseAddress, type Topic } from '../../lib/zmq/topics';
import { OptionError } from '../../plugin/options/errors';
import { readOptions } from '../../plugin/options/rest-options';
import { bcoin, type HostFullBlock, type HostKeyRing } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { nodeWith } from '../support/bcoin/changed-node';
import { newFolder } from '../support/process/folders';
import { ask, basicAuth } from '../support/client/http';
import { current, damagedCoin, openNew, reach, withNodeAndIndex } from '../support/node/indexed-node';
import { blockWith, createRegtestNode, freePort, mine, mineOnly } from '../support/bcoin/regtest-node';
import { openRestNode, type RestNode } from '../support/node/rest-node';
import { signed } from '../support/chain/signed';
import { until } from '../support/expectations/until';
import { subscribeTo, TestSubscriber, type Message } from './subscriber';
import type { HostTransaction } from '../../lib/node/host';
import type { NodeSource } from '../../lib/node/types/source';

const PYTHON = '/usr/bin/python3';
const MATURE = 100;
const FEE = 10_000;
const COIN = 100_000_000;

/** State of a connection, and its timer, in `/proc/net/tcp`. */
const [ESTABLISHED, KEEPALIVE] = ['01', '02'];

describe('a node that publishes over ZeroMQ', () => {
  let folder: string;
  let tcp: string;
  let ipc: string;
  let rest: RestNode;
  let ring: HostKeyRing;
  let coinbases: HostTransaction[];
  let subscribers: TestSubscriber[];
  let first: TestSubscriber;

  before(async () => {
    folder = await newFolder();
    tcp = `tcp://127.0.0.1:${await freePort()}`;
    ipc = `ipc://${join(folder, 'zmq')}`;
    rest = await openRestNode({
      isFleet: false,
      settings: {
        'rest-core': 'modern',
        'rest-pool': 'modern',
        'api-key': 'key',
        'rest-zmq-hashblock': `${tcp},${ipc.replace('ipc://', 'unix:')}`,
        'rest-zmq-hashtx': tcp,
        'rest-zmq-rawblock': tcp,
        'rest-zmq-rawtx': tcp,
        'rest-zmq-sequence': tcp,
        'rest-zmq-hashblockhwm': 100_000,
        'rest-zmq-sequencehwm': 5
      }
    });
    await rest.node.connect();
    ring = bcoin.KeyRing.generate();
    coinbases = (await mine(rest.node, MATURE + 20, undefined, ring.getAddress())).map(({ txs }) => txs[0] as HostTransaction);
    first = await TestSubscriber.open(tcp);
    await mine(rest.node, 1);
    await untilTold();
    first.messages.length = 0;
    subscribers = [first];
    while (subscribers.length < 10) subscribers.push(await TestSubscriber.open(tcp));
  });
  after(async () => {
    for (const subscriber of subscribers) await subscriber.close();
    await rest.node.close();
    await rm(folder, { recursive: true });
  });

  /** Until the first subscriber has all messages of the tip: the bytes of a block come last. */
  async function untilTold(): Promise<void> {
    const tip = rest.rest.node.tip().hash;
    while (!first.messages.some(({ topic, body }) => topic === 'rawblock' && hash256(body.subarray(0, 80)).equals(tip)))
      await setTimeout(1);
  }

  it('lists topics, addresses and high-water marks as Bitcoin Core does', async () => {
    const body = Buffer.from('{"method":"getzmqnotifications","params":[]}');
    const authorization = basicAuth('x:key');
    const reply = await ask(rest.port, { method: 'POST', path: '/', headers: { authorization }, body });
    expect((JSON.parse(reply.body.toString()) as { result: unknown }).result).to.deep.equal([
      { type: 'pubhashblock', address: tcp, hwm: 100_000 },
      { type: 'pubhashblock', address: ipc, hwm: 100_000 },
      { type: 'pubhashtx', address: tcp, hwm: 1_000 },
      { type: 'pubrawblock', address: tcp, hwm: 1_000 },
      { type: 'pubrawtx', address: tcp, hwm: 1_000 },
      { type: 'pubsequence', address: tcp, hwm: 5 }
    ]);
  });

  it('tells all subscribers the same, from which the pool follows that it shows', async () => {
    const { node, port } = rest;
    const start = await poolOf(port);
    const pool = new Set(start.txids);
    for (let i = 0; i < 10; i++) await node.mempool.addTX(spending(i));
    const fork = node.chain.tip;
    await mineOnly(
      node,
      [0, 1, 2, 3].map((i) => spending(i))
    );
    await node.mempool.addTX(spending(10));
    // A longer branch, which has one of them and a double spend of another one.
    const block = await blockWith(node, [spending(1), spending(5, 2 * FEE)], fork);
    await node.chain.add(block);
    await mineOnly(node, [], (await node.chain.getEntry(hashOf(block.hash()))) ?? undefined);
    for (let i = 11; i < 15; i++) await node.mempool.addTX(spending(i));
    const end = await poolOf(port);

    await first.received(1);
    const last = `A${end.mempool_sequence - 1}`;
    const isEnd = (message: Message): boolean => message.topic === 'sequence' && labelOf(message) === last;
    for (const subscriber of subscribers) {
      while (!subscriber.messages.some(isEnd)) await setTimeout(1);
      expect(subscriber.messages).to.deep.equal(first.messages);
    }
    const blocks = new Map<string, readonly string[]>();
    let transactions: string[] = [];
    for (const message of first.messages) {
      const hash = message.body.toString('hex', 0, 32);
      if (message.topic === 'hashtx') transactions.push(hash);
      if (message.topic !== 'sequence') continue;
      const label = labelOf(message);
      if (label === 'C') for (const txid of transactions) pool.delete(txid);
      if (label === 'C' || label === 'D') blocks.set(hash, transactions);
      else if (Number(label.slice(1)) >= start.mempool_sequence) {
        if (label.startsWith('A')) pool.add(hash);
        else pool.delete(hash);
      }
      transactions = [];
    }
    expect([...pool].sort()).to.deep.equal([...end.txids].sort());
    expect([...blocks.keys()]).to.have.lengthOf(3);
    expect(labels(first.messages).join(' ')).to.match(/^(A\d+ ){10}C A\d+ D R\d+ (A\d+ ){3}C C( A\d+){4}$/);
  });

  it('tells of nothing that it does not show', async () => {
    const seen = first.messages.length;
    const block = await blockWith(rest.node, []);
    await rest.node.chain.add(block);
    const told = (await first.received(seen + 1))[seen];
    const [coinbase] = block.txs as readonly [HostTransaction];
    expect(told?.body.toString('hex')).to.equal(toDisplayHex(coinbase.hash()));
    expect((await ask(rest.port, { path: `/rest/tx/${toDisplayHex(coinbase.hash())}.hex` })).status).to.equal(200);
  });

  it('tells each address the messages of its topics, with numbers of its own', async () => {
    const other = await TestSubscriber.open(ipc);
    for (let i = 0; i < 2; i++) await mineOnly(rest.node, []);
    const messages = await other.received(2);
    await other.close();
    expect(messages.map(({ topic }) => topic)).to.deep.equal(['hashblock', 'hashblock']);
    expect(messages.map(({ body }) => body.toString('hex'))[1]).to.equal(toDisplayHex(rest.rest.node.tip().hash));
    expect((messages[1] as Message).number).to.equal((messages[0] as Message).number + 1);
  });

  it('tells a subscriber in another language', async function () {
    if (spawnSync(PYTHON, ['-c', 'import zmq']).status !== 0) {
      if (process.env['CI'] === 'true') throw new Error('python3-zmq is missing: install the Debian package');
      console.log('      skipped: python3-zmq is not installed (Debian: apt-get install python3-zmq)');
      this.skip();
    }
    const script = `import zmq
s = zmq.Context().socket(zmq.SUB)
s.connect("${tcp}")
s.subscribe("hashblock")
print("ready", flush=True)
for i in range(3):
    topic, body, number = s.recv_multipart()
    print(topic.decode(), body.hex(), int.from_bytes(number, "little"), flush=True)`;
    const python = spawn(PYTHON, ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).to.equal('ready');
    // The publisher does not say when it has the subscription.
    while (python.exitCode === null) {
      await mineOnly(rest.node, []);
      await setTimeout(20);
    }
    const told: unknown[] = [await lines.next(), await lines.next(), await lines.next()].map(({ value }) => value as unknown);
    await untilTold();
    const ours = first.messages
      .filter(({ topic }) => topic === 'hashblock')
      .map(({ topic, body, number }) => `${topic} ${body.toString('hex')} ${number}`);
    const from = ours.indexOf(String(told[0]));
    expect(told).to.deep.equal(ours.slice(from, from + told.length));
  });

  it('tells of all blocks that a reset undoes, and of the pool that is emptied', async () => {
    await untilTold();
    const seen = labels(first.messages).length;
    const pooled = rest.rest.node.pool.txids().length;
    expect(pooled).to.be.greaterThan(5);
    await rest.node.chain.reset(rest.node.chain.height - 2);
    while (labels(first.messages).length < seen + 2 + pooled) await setTimeout(1);
    const { txids, mempool_sequence: next } = await poolOf(rest.port);
    const left = Array.from({ length: pooled }, (_, i) => `R${next - pooled + i}`);
    expect(labels(first.messages).slice(seen)).to.deep.equal(['D', 'D', ...left]);
    expect(txids).to.deep.equal([]);
  });

  it('tells a reorganization that comes at once after a block as a step of its own', async () => {
    const { node } = rest;
    const { height } = node.chain;
    const longer = [await blockWith(node, [])];
    await node.chain.add(longer[0] as HostFullBlock);
    longer.push(await blockWith(node, []));
    await node.chain.add(longer[1] as HostFullBlock);
    await node.chain.reset(height);
    await node.mempool.addTX(spending(16));
    const shorter = await blockWith(node, [spending(16)]);
    const { mempool_sequence: next } = await poolOf(rest.port);
    while (!labels(first.messages).includes(`A${next - 1}`)) await setTimeout(1);
    const seen = labels(first.messages).length;
    await Promise.all([shorter, ...longer].map((block) => node.chain.add(block)));
    while (labels(first.messages).length < seen + 5) await setTimeout(1);
    expect(labels(first.messages).slice(seen)).to.deep.equal(['C', 'D', `A${next + 1}`, 'C', 'C']);
  });

  it('tells a reorganization as one change of the pool: conflicts, then what stays, from the lowest block on', async () => {
    const { node } = rest;
    const fork = node.chain.tip;
    const parent = spending(17);
    const child = signed(ring, [parent], [[ring.getAddress(), 49 * COIN]]);
    const [passing, pooled] = [spending(18), spending(19)];
    for (const transactions of [[parent], [child, passing]]) await mineOnly(node, transactions);
    await node.mempool.addTX(pooled);
    await untilTold();
    const { mempool_sequence: next } = await poolOf(rest.port);
    while (!labels(first.messages).includes(`A${next - 1}`)) await setTimeout(1);
    const seen = first.messages.length;

    let tip = fork;
    for (const transactions of [[spending(18, 2 * FEE), spending(19, 2 * FEE)], [], []]) {
      const block = await blockWith(node, transactions, tip);
      await node.chain.add(block);
      tip = (await node.chain.getEntry(hashOf(block.hash()))) as typeof tip;
    }

    await untilTold();
    const changes = first.messages
      .slice(seen)
      .filter(({ topic }) => topic === 'sequence')
      .map((message) => [labelOf(message).slice(0, 1), ...(message.body.length > 33 ? [message.body.toString('hex', 0, 32)] : [])]);
    const txidOf = (transaction: HostTransaction): string => toDisplayHex(transaction.hash());
    expect(changes).to.deep.equal([['D'], ['D'], ['R', txidOf(pooled)], ['A', txidOf(parent)], ['A', txidOf(child)], ['C'], ['C'], ['C']]);
    const numbers = labels(first.messages).flatMap((label) => (label.length > 1 ? [Number(label.slice(1))] : []));
    expect(numbers).to.deep.equal(numbers.toSorted((one, other) => one - other));
    expect((await poolOf(rest.port)).mempool_sequence).to.be.above(numbers.at(-1) as number);
  });

  /** Signatures differ each time. */
  const spendings = new Map<string, HostTransaction>();
  const spending = (i: number, fee = FEE): HostTransaction => {
    const made = spendings.get(`${i} ${fee}`) ?? spendingAnew(i, fee);
    spendings.set(`${i} ${fee}`, made);
    return made;
  };
  const spendingAnew = (i: number, fee: number): HostTransaction =>
    signed(ring, [coinbases[i] as HostTransaction], [[ring.getAddress(), 50 * COIN - fee]]);

  const hashOf = (hash: Buffer): Buffer | string => (typeof rest.node.chain.tip.hash === 'string' ? hash.toString('hex') : hash);
});

describe('blocks of a node', () => {
  withNodeAndIndex();
  let notifications: Notifications;
  let subscriber: TestSubscriber;
  afterEach(async () => {
    await subscriber.close();
    await notifications.close();
  });

  /** Publishes these topics of the current node. */
  async function publish(topics: readonly Topic[], node: NodeSource = current.node): Promise<void> {
    const { index, log: logger } = current;
    const address = `tcp://127.0.0.1:${await freePort()}`;
    notifications = new Notifications({ node, index, notifiers: topics.map((topic) => ({ topic, address, hwm: 0 })), logger });
    await notifications.open();
    subscriber = await TestSubscriber.open(address);
  }

  /** Publishes these topics. The node gives bytes of blocks once `goOn` is called; `asked`: for how many it was asked. */
  async function publishHeld(topics: readonly Topic[]): Promise<{ readonly goOn: () => void; readonly asked: () => number }> {
    const { node } = current;
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    let asked = 0;
    const rawBlock = async (hash: Buffer): Promise<Buffer | undefined> => {
      asked++;
      await held;
      return node.rawBlock(hash);
    };
    await publish(topics, nodeWith(node, { rawBlock }));
    return { goOn, asked: () => asked };
  }

  const told = (topic: Topic): string[] =>
    subscriber.messages.flatMap((message) => (message.topic === topic ? [message.body.toString('hex', 0, 32)] : []));

  /** Mines, waits until the last block is told, and gives the hashes. */
  async function mineTold(count: number, topic: Topic): Promise<string[]> {
    const hashes = (await mine(current.host, count)).map((block) => toDisplayHex(block.hash()));
    await until(() => told(topic).at(-1) === hashes.at(-1));
    return hashes;
  }

  it('are not told a second time when the index is built again', async () => {
    const txid = await damagedCoin(5);
    await publish(['sequence']);
    const before = await mineTold(1, 'sequence');
    expect(() => current.index.reader.read((snapshot) => snapshot.coin(txid, 0))).to.throw(IndexUnavailableError);
    await reach('live');
    const after = await mineTold(1, 'sequence');
    expect(told('sequence')).to.deep.equal([...before, ...after]);
  });

  it('wait with their transactions up to a hundred; further ones are told by their hashes, and the last one as the tip', async () => {
    await openNew();
    await mine(current.host, 1);
    const { node } = current;
    const { goOn } = await publishHeld(['hashblock', 'hashtx', 'sequence']);
    const mined = await mine(current.host, 205);
    goOn();
    await until(() => told('hashblock').at(-1) === toDisplayHex(node.tip().hash));
    const hashes = mined.map((block) => toDisplayHex(block.hash()));
    expect(told('sequence')).to.deep.equal(hashes);
    expect(told('hashtx')).to.deep.equal(mined.slice(0, 100).map(({ txs: [coinbase] }) => coinbase && toDisplayHex(coinbase.hash())));
    expect(told('hashblock')).to.deep.equal([...hashes.slice(0, 100), ...hashes.slice(-1)]);
    await mineTold(1, 'hashblock');
    expect(told('hashtx')).to.have.lengthOf(101);
  });

  it('are not read for their hashes alone', async () => {
    await openNew();
    const { asked } = await publishHeld(['hashblock', 'sequence']);
    const hashes = await mineTold(3, 'hashblock');
    expect(told('sequence')).to.deep.equal(hashes);
    expect(asked()).to.equal(0);
  });

  it('are told by their hashes if the node has no bytes of them, with a warning if it cannot read them', async () => {
    await openNew();
    let isBroken = false;
    const rawBlock = (): Promise<undefined> => (isBroken ? Promise.reject(new Error('the disk is broken')) : Promise.resolve(undefined));
    const warnings = (): string[] => current.log.lines.filter((line) => line.startsWith('warning'));
    await publish(['hashtx', 'sequence'], nodeWith(current.node, { rawBlock }));
    const lost = await mineTold(1, 'sequence');
    expect(warnings()).to.deep.equal([]);
    isBroken = true;
    const unreadable = await mineTold(1, 'sequence');
    expect(told('sequence')).to.deep.equal([...lost, ...unreadable]);
    await until(() => warnings().length > 0);
    expect(warnings()).to.deep.equal(['warning Not all subscribers of ZeroMQ were notified: the disk is broken.']);
  });

  it('are not told once the node closes, which waits for the one that is being told', async () => {
    await openNew();
    const { goOn, asked } = await publishHeld(['rawtx']);
    await mine(current.host, 3);
    await until(() => asked() === 1);
    let isClosed = false;
    const closing = notifications.close().then(() => (isClosed = true));
    await setImmediate();
    expect(isClosed).to.equal(false);
    goOn();
    await closing;
    expect(asked()).to.equal(1);
  });
});

describe('a subscriber that does not read', () => {
  it('misses what is beyond the high-water mark, while others get everything', async () => {
    const address = `tcp://127.0.0.1:${await freePort()}`;
    const sockets = new Sockets();
    await sockets.open([{ topic: 'rawtx', address, hwm: 10 }]);
    const reader = await TestSubscriber.open(address);
    const silent = new Subscriber({ linger: 0, receiveHighWaterMark: 1 });
    await subscribeTo(address, silent);
    const [body, count] = [Buffer.alloc(200_000), 150];
    for (let i = 0; i < count; i++) {
      await sockets.send('rawtx', body);
      await reader.received(i + 1);
    }
    const numbers: number[] = [];
    silent.receiveTimeout = 500;
    await caught(
      (async () => {
        for (;;) numbers.push(((await silent.receive())[2] as Buffer).readUInt32LE());
      })()
    );
    silent.close();
    await reader.close();
    sockets.close();
    expect(reader.messages.map(({ number }) => number)).to.deep.equal(Array.from({ length: count }, (_, i) => i));
    expect(numbers.length).to.be.within(1, count - 20);
    expect(numbers).to.deep.equal([...numbers].sort((a, b) => a - b));
  });
});

describe('sockets of ZeroMQ', () => {
  const LOCAL = '127.0.0.1';
  let sockets: Sockets;
  let port: number;

  const open = async (host: string): Promise<string> => {
    port = await freePort();
    const address = `tcp://${host}:${port}`;
    sockets = new Sockets();
    await sockets.open([{ topic: 'rawtx', address, hwm: 1_000 }]);
    return address;
  };
  afterEach(() => {
    sockets.close();
  });

  it('listen on addresses of IPv6', async function () {
    if (!Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))) this.skip();
    const address = await open('[::1]');
    const subscriber = new Subscriber({ linger: 0, ipv6: true });
    await subscribeTo(address, subscriber);
    await sockets.send('rawtx', Buffer.of(7));
    expect((await subscriber.receive())[1]).to.deep.equal(Buffer.of(7));
    subscriber.close();
  });

  it('disconnect a subscriber that sends more than the prefix of a topic', async () => {
    const address = await open(LOCAL);
    const subscriber = new Subscriber({ linger: 0 });
    await subscribeTo(address, subscriber, ['r'.repeat(200), 'rawtx']);
    let isDisconnected = false;
    subscriber.events.on('disconnect', () => (isDisconnected = true));
    await sockets.send('rawtx', Buffer.of(7));
    await subscriber.receive();
    expect(isDisconnected).to.equal(false);
    subscriber.subscribe('r'.repeat(300));
    await until(() => isDisconnected);
    subscriber.close();
  });

  it('ask subscribers now and then whether they are there', async function () {
    // Where the system shows its timers.
    if (process.platform !== 'linux') this.skip();
    const subscriber = await TestSubscriber.open(await open(LOCAL));
    const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const connections = (await readFile('/proc/net/tcp', 'utf8'))
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, own = '', , state]) => own.endsWith(local) && state === ESTABLISHED);
    expect(connections.map(([, , , , , timer = '']) => timer.slice(0, 2))).to.deep.equal([KEEPALIVE]);
    await subscriber.close();
  });
});

describe('options for ZeroMQ', () => {
  const read = async (settings: Record<string, unknown>, role?: 'reader'): Promise<unknown> =>
    readOptions((await createRegtestNode({ settings })).config, role);

  it('are refused with a sentence that names the option', async () => {
    const wrong: [Record<string, unknown>, RegExp][] = [
      [{ 'rest-zmq-hashtx': '127.0.0.1:28332' }, /^--rest-zmq-hashtx must be addresses such as tcp:/],
      [{ 'rest-zmq-rawtx': 'tcp://127.0.0.1:99999' }, /^--rest-zmq-rawtx must be/],
      [{ 'rest-zmq-rawtx': 'tcp://127.0.0.1:28332,' }, /^--rest-zmq-rawtx must be/],
      [{ 'rest-zmq-sequencehwm': 5 }, /^--rest-zmq-sequencehwm has no effect without --rest-zmq-sequence$/],
      [{ 'rest-zmq-hashtx': 'ipc:///x', 'rest-zmq-hashtxhwm': -1 }, /^--rest-zmq-hashtxhwm must be a whole number/]
    ];
    for (const [settings, message] of wrong) {
      const error = await caught(read(settings));
      expect(error).to.be.instanceOf(OptionError);
      expect((error as Error).message).to.match(message);
    }
    const error = await caught(read({ 'rest-zmq-hashblock': 'ipc:///x' }, 'reader'));
    expect((error as Error).message).to.equal('--rest-zmq-hashblock is for nodes, not for a reader of a fleet');
  });

  it('name addresses as ZeroMQ does, or paths as Bitcoin Core does', () => {
    for (const text of ['tcp://*:1', 'tcp://[::1]:65535', 'tcp://node-1.example:28332', 'ipc:///run/node 1', 'ipc://a\nb'])
      expect(parseAddress(text), text).to.equal(text);
    expect(parseAddress('unix:/run/node')).to.equal('ipc:///run/node');
    for (const text of ['tcp://*:0', 'tcp://*:65536', 'tcp://*', 'tcp://a/b:1', 'unix:', 'ipc://', 'udp://*:1'])
      expect(parseAddress(text), text).to.equal(undefined);
  });

  it('stop the node when an address cannot be bound', async () => {
    const address = `tcp://127.0.0.1:${await freePort()}`;
    const sockets = new Sockets();
    await sockets.open([{ topic: 'hashtx', address, hwm: 1 }]);
    const free = `tcp://127.0.0.1:${await freePort()}`;
    const settings = { 'rest-zmq-hashtx': free, 'rest-zmq-rawblock': address };
    const error = await caught(openRestNode({ isFleet: false, settings }));
    sockets.close();
    // Nothing is left that listens, once ZeroMQ has closed its socket.
    await until(async () => {
      const again = new Sockets();
      const fault = await again.open([{ topic: 'hashtx', address: free, hwm: 1 }]).catch((inUse: unknown) => inUse);
      again.close();
      return fault === undefined;
    });
    expect((error as Error).message).to.match(/^--rest-zmq-rawblock: cannot listen on tcp:.*: Address already in use/);
  });
});

const labelOf = ({ body }: Message): string => `${body.toString('latin1', 32, 33)}${body.length > 33 ? body.readBigUInt64LE(33) : ''}`;

const labels = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) => (message.topic === 'sequence' ? [labelOf(message)] : []));

async function poolOf(port: number): Promise<{ readonly txids: readonly string[]; readonly mempool_sequence: number }> {
  const { body } = await ask(port, { path: '/rest/mempool/contents.json?verbose=false&mempool_sequence=true' });
  return JSON.parse(body.toString()) as { txids: string[]; mempool_sequence: number };
}
