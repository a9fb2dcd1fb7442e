import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { WebSocket } from 'ws';
import { MOST_BLOCKS } from '../../lib/pool/projection/projected-blocks';
import { hurried, ShiftedClock } from '../support/process/clock';
import { ask, basicAuth } from '../support/client/http';
import { KeyWallet } from '../support/chain/key-wallet';
import { PushClient, refusedWith } from '../support/client/push-client';
import { type PushingNode, withPushingNode } from './pushing-node';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode } from '../support/node/rest-node';
import { ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import type { IncomingMessage } from 'node:http';

const IDLE_MS = 600_000;
const PING_MS = 60_000;
/** Idle clients are looked for ten times a second at most. */
const LOOK_MS = 100;

describe('connections of mempool’s WebSocket', () => {
  let pushing: PushingNode;
  let served: ServedNode;

  withPushingNode((opened) => {
    pushing = opened;
    ({ served } = opened);
  });

  const client = (): Promise<PushClient> => pushing.client();

  it('closes on a message that is not an object or has very many values, and ignores unknown fields', async () => {
    const names = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"${i}":0`).join(',')}}`;
    const manyValues = `{"track-addresses":[${Array(100_000).fill('0').join(',')}]}`;
    for (const text of ['{', 'null', '5', '"x"', '', names(101), manyValues]) {
      const own = await client();
      own.socket.send(text);
      expect(await own.closed(), text.slice(0, 20)).to.equal(1001);
    }
    const own = await client();
    expect(
      await own.ask(
        [],
        {},
        { action: 'fly' },
        { 'track-wallet': 'all' },
        ...['x', -1, 0.5, MOST_BLOCKS].map((block) => ({ 'track-mempool-block': block })),
        { 'track-tx': 5 },
        { action: 'want' }
      )
    ).to.deep.equal([]);
  });

  it('answers with empty histories of what is not kept here', async () => {
    const own = await client();
    for (const kind of ['all', 'fullRbf']) expect(await own.ask({ 'track-rbf': kind })).to.deep.equal([{ rbfLatest: [] }]);
    expect(await own.ask({ 'track-rbf': 'none' })).to.deep.equal([]);
    expect(await own.ask({ 'track-rbf-summary': true, 'track-accelerations': true })).to.deep.equal([
      { rbfLatestSummary: [], accelerations: { accelerations: [] } }
    ]);
  });

  it('accepts pages of its own origin', async () => {
    const own = await pushing.client({ Origin: `http://127.0.0.1:${served.port}` });
    await pushing.client({ Host: 'node.example', Origin: 'https://Node.Example' });
    expect(await own.ask()).to.deep.equal([]);
  });

  it('ends a connection whose message is longer than a megabyte', async () => {
    const own = await client();
    own.socket.send(Buffer.alloc(1_000_001, ' '));
    expect(await own.closed()).to.equal(1009);
  });

  it('ends a connection at a frame that is not text, whatever comes behind it', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}/api/v1/ws`);
    const [{ socket: raw }] = (await once(socket, 'upgrade')) as [IncomingMessage];
    const closed = once(socket, 'close');
    // Pings take a turn each, and what comes meanwhile waits in pieces.
    raw.write(Buffer.concat(Array<Buffer>(200).fill(frame(PING))));
    await once(socket, 'pong');
    for (const piece of [frame(TEXT, 0xff), ...Array<Buffer>(20).fill(Buffer.of(0))]) {
      raw.write(piece);
      await setImmediate();
    }
    expect(await closed).to.deep.include(1007);
    expect(await (await client()).ask({ action: 'init' })).to.have.length(1);
  });

  it('cuts off a client that never reads, and does not answer it meanwhile', async () => {
    const own = await client();
    own.socket.pause();
    for (let i = 0; i < 10_000; i++) own.socket.send('{"action":"init"}');
    const other = await client();
    expect(await other.ask({ action: 'init' })).to.have.length(1);
    other.socket.terminate();
    await until(() => served.wallets.sessions.count === 0);
    own.socket.resume();
    await own.closed();
    expect(own.told.length).to.be.lessThan(10_000);
  });

  it('tolerates connections that break at any moment, and forgets them', async () => {
    const { address } = new KeyWallet();
    for (let i = 0; i < 20; i++) {
      const own = await PushClient.connect(served.port);
      own.send({ 'track-address': address, 'track-tx': 'cd'.repeat(32), action: 'want', data: ['blocks', 'stats'] });
      if (i % 2 === 0) await own.ask();
      own.socket.terminate();
    }
    const half = connect(served.port, '127.0.0.1');
    half.write('GET /api/v1/ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n');
    await once(half, 'connect');
    half.destroy();
    await until(() => served.wallets.sessions.count === 0);
    expect(served.wallets.push.tracked).to.equal(0);
    expect(await (await client()).ask({ action: 'init' })).to.have.length(1);
  });

  it('does nothing for clients that have left', async () => {
    const { projections } = served.answers;
    const own = await client();
    await own.ask({ action: 'want', data: ['blocks', 'stats', 'mempool-blocks'], 'track-mempool-block': 0 });
    await pushing.leave();
    const get = projections.get.bind(projections);
    let asked = 0;
    projections.get = () => {
      asked++;
      return get();
    };
    try {
      const blocks = await client();
      await blocks.ask({ action: 'want', data: ['blocks'] });
      await mine(served.node, 1);
      await blocks.next('block');
      await blocks.ask();
    } finally {
      projections.get = get;
    }
    expect(asked).to.equal(0);
  });

  it('ends after ten minutes without a word, but not while pings are answered', async () => {
    const pingAsUsual = hurried(PING_MS);
    const answering = await client();
    const silent = new PushClient(new WebSocket(`ws://127.0.0.1:${served.port}/api/v1/ws`, { autoPong: false }));
    await once(silent.socket, 'open');
    pingAsUsual();
    for (const own of [answering, silent]) await own.ask({ action: 'want', data: ['blocks'] });
    const clock = new ShiftedClock();
    try {
      clock.passes(IDLE_MS / 2);
      // Answers to the first of these have come before the last one is sent.
      for (let pings = 0; pings < 20; pings++) await once(answering.socket, 'ping');
      clock.passes(IDLE_MS / 2);
      expect(await silent.closed()).to.equal(1001);
      expect(await answering.ask()).to.deep.equal([]);
    } finally {
      clock.restore();
    }
  });

  it('is refused with 503 while nothing can be answered, and with 403 to pages of other origins', async () => {
    const url = `ws://127.0.0.1:${served.port}/api/v1/ws`;
    pushing.ready$.next(false);
    expect(await refusedWith(url)).to.equal(503);
    pushing.ready$.next(true);
    expect(await refusedWith(url, { Origin: 'https://elsewhere.example' })).to.equal(403);
    expect(await refusedWith(url, { Origin: 'http://127.0.0.1:1' })).to.equal(403);
    expect(await refusedWith(url, { Origin: 'null' })).to.equal(403);
    const { status, headers } = await ask(served.port, { path: '/api/v1/ws' });
    expect([status, headers['upgrade']]).to.deep.equal([426, 'websocket']);
  });
});

describe('a node with mempool’s WebSocket', () => {
  it('limits the number of clients, requires its key, and closes with clients connected', async () => {
    const key = 'a key of the node';
    const settings = { 'rest-addresses': true, 'rest-auth': true, 'api-key': key, 'rest-electrum-sessions': 1 };
    const served = await openRestNode({ settings });
    const url = `ws://127.0.0.1:${served.port}/api/v1/ws`;
    await until(async () => (await ask(served.port, { path: '/api/blocks/tip/height', headers: basic(key) })).status === 200);
    expect(await refusedWith(url)).to.equal(401);
    const client = await PushClient.connect(served.port, basic(key));
    await client.ask({ 'track-address': new KeyWallet().address, action: 'want', data: ['blocks', 'stats'] });
    expect(await refusedWith(url, basic(key))).to.equal(503);
    const closed = client.closed();
    await served.node.close();
    expect(await closed).to.equal(1001);
  });

  it('serves it under the path of the interface, wherever that is', async () => {
    const served = await openRestNode({ settings: { 'rest-addresses': true, 'rest-addresses-path': '/esplora' } });
    await until(async () => (await ask(served.port, { path: '/esplora/blocks/tip/height' })).status === 200);
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}/esplora/v1/ws`);
    await once(socket, 'open');
    socket.terminate();
    expect((await ask(served.port, { path: '/api/v1/ws' })).status).to.equal(404);
    await served.node.close();
  });

  it('has none without addresses', async () => {
    const served = await openRestNode();
    expect((await ask(served.port, { path: '/api/v1/ws' })).status).to.equal(404);
    await served.node.close();
  });
});

describe('clients of mempool’s WebSocket from elsewhere', () => {
  const MOST_COST = 400;
  let served: ServedNode;

  before(async () => {
    const settings = { 'rest-electrum-sessions': 1, 'rest-electrum-cost': MOST_COST };
    served = await ServedNode.open({ settings }, { isOwn: () => false });
  });
  after(() => served.close());

  it('make room for others unless they are subscribed to something', async () => {
    const stop = { action: 'want', data: [], 'track-mempool-block': -1, 'track-tx': 'stop', 'track-address': 'stop' };
    let client = await PushClient.connect(served.port);
    for (const request of [
      { action: 'want', data: ['blocks'] },
      { action: 'want', data: ['stats'] },
      { action: 'want', data: ['mempool-blocks'] },
      { 'track-mempool-block': 0 },
      { 'track-tx': 'ab'.repeat(32) },
      { 'track-address': new KeyWallet().address }
    ]) {
      await client.ask(request);
      await setTimeout(LOOK_MS);
      expect(await refusedWith(`ws://127.0.0.1:${served.port}/api/v1/ws`), JSON.stringify(request)).to.equal(503);
      await client.ask(stop);
      const gone = client.closed();
      await setTimeout(LOOK_MS);
      client = await PushClient.connect(served.port);
      expect(await gone).to.equal(1006);
    }
    client.socket.terminate();
    await until(() => served.wallets.sessions.count === 0);
  });

  it('are read from again later once they have cost much', async () => {
    const client = await PushClient.connect(served.port);
    await client.ask({ padding: ' '.repeat(500_000) });
    const before = performance.now();
    await client.ask();
    // Busy machines only make it longer.
    expect(performance.now() - before).to.be.above(200);
    client.socket.terminate();
  });
});

const basic = (key: string): Record<string, string> => ({ Authorization: basicAuth(`x:${key}`) });

const [TEXT, PING] = [0x81, 0x89];

/** A short frame of a client, with a mask of zeros (RFC 6455, 5.2). */
const frame = (first: number, ...payload: number[]): Buffer => Buffer.of(first, 0x80 | payload.length, 0, 0, 0, 0, ...payload);
