import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { ShiftedClock, withoutLongTimers } from '../support/process/clock';
import { openElectrumNode, type ElectrumNode } from '../support/node/electrum-node';
import { LineClient } from '../support/client/line-client';
import { freePort } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';

/** Addresses of this machine, only one of which counts as the node's own here. */
const [OWN, SOMEBODY, SOMEBODY_ELSE, ANOTHER] = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;

const MOST_OF_ADDRESS = 100;
const MOST_COST = 100_000;
const LITTLE_COST = 2_000;
const BYTES_PER_POINT = 5_000;
const MOST_HANDSHAKES = 200;
/** How often idle clients are looked for. */
const LOOK_MS = 100;
const SILENT_MS = 60_000;
const IDLE_MS = 600_000;

describe('clients of the Electrum protocol are bounded', () => {
  let served: ElectrumNode;
  const clients: LineClient[] = [];

  before(async () => {
    // A short timeout also makes the checks for idle clients more frequent.
    served = await openElectrumNode({
      isOwn: (address) => address === OWN,
      settings: { 'rest-electrum-cost': MOST_COST, 'rest-timeout': 1 }
    });
  });
  after(() => served.node.close());
  afterEach(async () => {
    for (const client of clients.splice(0)) client.socket.destroy();
    await until(() => served.electrum.sessions === 0);
  });

  async function connectFrom(from: string = OWN): Promise<LineClient> {
    const client = await LineClient.connect(served.port, from);
    clients.push(client);
    return client;
  }

  /** The result; undefined if the connection was closed instead. */
  const answered = async (client: LineClient): Promise<unknown> => {
    client.send({ id: 1, method: 'server.ping' });
    const line = await client.line();
    return line === undefined ? undefined : (JSON.parse(line) as unknown);
  };

  const PONG = { jsonrpc: '2.0', id: 1, result: null };

  it('to a hundred from one address that is not the node’s own, and a place becomes free with each that leaves', async () => {
    const first = await connectFrom(SOMEBODY);
    expect(await answered(first)).to.deep.equal(PONG);
    for (let i = 1; i < MOST_OF_ADDRESS; i++) expect(await answered(await connectFrom(SOMEBODY))).to.deep.equal(PONG);
    expect(await (await connectFrom(SOMEBODY)).line()).to.equal(undefined);
    expect(await answered(await connectFrom(SOMEBODY_ELSE))).to.deep.equal(PONG);
    first.socket.destroy();
    await until(() => served.electrum.sessions === MOST_OF_ADDRESS);
    expect(await answered(await connectFrom(SOMEBODY))).to.deep.equal(PONG);
    await until(() => served.electrum.sessions === MOST_OF_ADDRESS + 1);
    for (let i = 0; i <= MOST_OF_ADDRESS; i++) expect(await answered(await connectFrom())).to.deep.equal(PONG);
  });

  it('by what they cost: beyond the hard limit an address is cut off, and no other', async () => {
    const costly = await connectFrom(SOMEBODY);
    const beside = await connectFrom(SOMEBODY);
    const other = await connectFrom(SOMEBODY_ELSE);
    expect(await costly.ask('test.charge', [2 * MOST_COST])).to.deep.equal(PONG);
    for (const client of [costly, beside, await connectFrom(SOMEBODY)]) {
      expect(await client.ask('server.ping', [], 7)).to.deep.equal({
        jsonrpc: '2.0',
        id: 7,
        error: { code: 1, message: 'excessive resource usage' }
      });
      expect(await client.line()).to.equal(undefined);
    }
    expect(await answered(other)).to.deep.equal(PONG);
    // The node's own machine costs nothing.
    const near = await connectFrom();
    expect(await near.ask('test.charge', [2 * MOST_COST])).to.deep.equal(PONG);
    expect(await answered(near)).to.deep.equal(PONG);
  });

  it('by what they cost: above the soft limit each request waits, of many that came at once and of one, and of no other address', async () => {
    const [costly, beside, other] = [await connectFrom(ANOTHER), await connectFrom(ANOTHER), await connectFrom(SOMEBODY_ELSE)];
    costly.send({ id: 1, method: 'test.charge', params: [0.9 * MOST_COST] }, { id: 2, method: 'test.now' }, { id: 3, method: 'test.now' });
    expect(await costly.value()).to.have.property('id', 1);
    // The second waits already. Who begins to wait now does so until the end, however busy the machine is.
    const restore = withoutLongTimers(1_000);
    try {
      beside.send({ id: 4, method: 'test.now' });
      expect(await costly.value()).to.have.property('id', 2);
      for (let i = 0; i < 5; i++) expect(await answered(other)).to.deep.equal(PONG);
      expect([costly.waiting, beside.waiting]).to.deep.equal([0, 0]);
    } finally {
      restore();
    }
    const late = await connectFrom(ANOTHER);
    late.send({ id: 5, method: 'test.now' });
    expect(await late.value()).to.have.property('id', 5);
  });

  it('by what they ask for: also requests that cannot be answered cost something', async () => {
    const client = await connectFrom(SOMEBODY_ELSE);
    expect(await client.ask('test.charge', [MOST_COST / 2])).to.deep.equal(PONG);
    const bad = Array.from({ length: 1_000 }, (_, id) => (id % 2 === 0 ? { id } : { id, method: 'nothing' }));
    for (let i = 0; i < 6; i++) client.send(bad);
    let batches = 0;
    while (((await client.value()) as unknown as readonly unknown[]).length === bad.length) batches++;
    expect(batches).to.be.within(5, 6);
  });

  it('in time: connections end that send nothing in the first minute, or nothing in ten', async () => {
    const clock = new ShiftedClock();
    try {
      const [silent, idle, lively] = [await connectFrom(), await connectFrom(), await connectFrom()];
      for (const client of [idle, lively]) expect(await answered(client)).to.deep.equal(PONG);
      clock.passes(SILENT_MS + 1);
      expect(await silent.line()).to.equal(undefined);
      await until(() => served.electrum.sessions === 2);
      clock.passes(IDLE_MS / 2);
      expect(await answered(lively)).to.deep.equal(PONG);
      clock.passes(IDLE_MS / 2);
      expect(await idle.line()).to.equal(undefined);
      await until(() => served.electrum.sessions === 1);
      expect(await answered(lively)).to.deep.equal(PONG);
    } finally {
      clock.restore();
    }
  });
});

describe('a client that keeps the disk or the network busy', () => {
  const held: (() => void)[] = [];
  const clients: LineClient[] = [];
  let served: ElectrumNode;

  before(async () => {
    served = await openElectrumNode({
      isOwn: () => false,
      held: (release) => void held.push(release),
      settings: { 'rest-electrum-cost': LITTLE_COST }
    });
  });
  after(async () => {
    for (const client of clients) client.socket.destroy();
    await served.node.close();
  });

  async function connectFrom(from: string): Promise<LineClient> {
    const client = await LineClient.connect(served.port, from);
    clients.push(client);
    expect(await client.ask('server.ping')).to.have.property('result', null);
    return client;
  }

  it('is charged for the time, and cut off', async () => {
    const client = await connectFrom(SOMEBODY);
    client.send({ id: 1, method: 'test.hold' });
    await until(() => held.length === 1);
    // On a busy machine there is less time in which the process has nothing else to do.
    const idleMs = (): number => performance.eventLoopUtilization().idle;
    for (const before = idleMs(); idleMs() < before + 300;) await delay(50);
    held.pop()?.();
    expect(await client.line()).to.match(/"held"/);
    expect(await client.ask('server.ping')).to.have.nested.property('error.message', 'excessive resource usage');
  });

  it('is charged for the bytes that it is sent, and cut off', async () => {
    const notified = await connectFrom(SOMEBODY_ELSE);
    for (const one of served.notified) one.notify('test.news', JSON.stringify(['x'.repeat(LITTLE_COST * BYTES_PER_POINT)]), 'news');
    expect(await notified.value()).to.have.property('method', 'test.news');
    const answered = await connectFrom(ANOTHER);
    expect((await answered.ask('test.letters', [LITTLE_COST * BYTES_PER_POINT])).result).to.have.length(LITTLE_COST * BYTES_PER_POINT);
    for (const client of [notified, answered])
      expect(await client.ask('server.ping')).to.have.nested.property('error.message', 'excessive resource usage');
  });
});

describe('when there are as many clients of the Electrum protocol as there may be', () => {
  const MOST = 3;
  /** More than the operating system buffers for a client. */
  const LETTERS = 8_000_000;
  const held: (() => void)[] = [];
  let served: ElectrumNode;
  const clients: (LineClient | Socket)[] = [];

  before(async () => {
    served = await openElectrumNode({
      held: (release) => void held.push(release),
      settings: { 'rest-electrum-tls': await freePort(), 'rest-electrum-sessions': MOST }
    });
  });
  after(() => served.node.close());
  afterEach(async () => {
    for (const client of clients.splice(0)) (client instanceof LineClient ? client.socket : client).destroy();
    await until(() => served.electrum.sessions === 0);
  });

  /** A client that was answered. */
  async function connected(method = 'server.ping'): Promise<LineClient> {
    const client = await LineClient.connect(served.port);
    clients.push(client);
    expect(await client.ask(method)).to.have.property('result');
    return client;
  }

  it('the one that was idle for longest makes room, if it is subscribed to nothing', async () => {
    const subscribed = await connected('test.subscribe');
    const [one, other] = [await connected(), await connected()];
    expect(await one.ask('server.ping')).to.have.property('result');
    const third = await connected();
    expect(await other.line()).to.equal(undefined);
    await until(() => served.electrum.sessions === MOST);
    // Idle clients are looked for ten times a second at most.
    await delay(LOOK_MS);
    const fourth = await connected();
    expect(await one.line()).to.equal(undefined);
    for (const client of [subscribed, third, fourth]) expect(await client.ask('server.ping')).to.have.property('result');
  });

  it('none makes room that waits for an answer, or has some of one left to read', async () => {
    const [waiting, reading, idle] = [await connected(), await connected(), await connected()];
    waiting.send({ id: 1, method: 'test.hold' });
    await until(() => held.length === 1);
    reading.socket.pause();
    reading.send({ id: 1, method: 'test.letters', params: [LETTERS] });
    await until(() => served.serving.responses.unreadBytes > LETTERS / 2);
    expect(await idle.ask('server.ping')).to.have.property('result');
    await delay(LOOK_MS);
    const late = await connected();
    expect(await idle.line()).to.equal(undefined);
    held.splice(0)[0]?.();
    expect(await waiting.value()).to.have.property('result', 'held');
    reading.socket.resume();
    expect((await reading.value()).result).to.have.length(LETTERS);
    expect(await late.ask('server.ping')).to.have.property('result');
  });

  it('others are refused if all are subscribed', async () => {
    for (let i = 0; i < MOST; i++) await connected('test.subscribe');
    expect(await (await LineClient.connect(served.port)).line()).to.equal(undefined);
    for (const client of clients) expect(await (client as LineClient).ask('server.ping')).to.have.property('result');
  });

  it('handshakes of TLS that are never finished take no place, and the oldest of them end', async () => {
    const [, tls] = served.electrum.addresses;
    for (let i = 1; i < MOST; i++) await connected('test.subscribe');
    const silent: Socket[] = [];
    for (let i = 0; i < MOST_HANDSHAKES + 10; i++) {
      const socket = connect((tls as AddressInfo).port, '127.0.0.1');
      clients.push(socket.on('error', () => undefined).resume());
      await once(socket, 'connect');
      silent.push(socket);
    }
    await until(() => silent.slice(0, 10).every(({ destroyed }) => destroyed));
    const secure = connectTls({ host: '127.0.0.1', port: (tls as AddressInfo).port, rejectUnauthorized: false });
    const client = new LineClient(secure);
    clients.push(client);
    expect(await client.ask('test.subscribe')).to.have.property('result');
    expect(silent.filter(({ destroyed }) => destroyed)).to.have.length.within(10, 11);
    expect(await (await LineClient.connect(served.port)).line()).to.equal(undefined);
  });
});
