import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { isFleetWanted } from '../support/fleet/fleet';
import { ask, askInOneWrite, countConnections, openSocket, requestBytes, untilClosed } from '../support/client/http';
import { chainWithSpends } from '../support/chain/regtest-chain';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { testScale, testSeed } from '../support/process/scale';
import { until } from '../support/expectations/until';
import { heldBytes } from '../support/process/garbage';

/**
 * A client that sends any bytes to an HTTP server: requests, pipelined, whole or incomplete, with all features of HTTP, changed bytes and
 * noise.
 */
interface Stranger {
  /** Parts that are written in separate turns. */
  readonly writes: readonly Buffer[];
  /** Whether the client reads the replies. */
  readonly reads: boolean;
  /** Turns of the event loop after the last write until the client closes the connection. */
  readonly stays: number;
  readonly leaves: 'end' | 'destroy' | 'resetAndDestroy';
}

/** Calls that do not stop the node or make it work for long. */
const NODE_CALLS = ['getblockcount', 'getbestblockhash', 'getmempoolinfo', 'nothing'].map((method) =>
  JSON.stringify({ method, params: [] })
);

const method = fc.oneof(
  { weight: 6, arbitrary: fc.constant('GET') },
  { weight: 4, arbitrary: fc.constant('POST') },
  { weight: 2, arbitrary: fc.constantFrom('PUT', 'HEAD', 'DELETE', 'OPTIONS', 'CONNECT', 'PRI', 'get', 'X') }
);

const header = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'Connection: Upgrade\r\nUpgrade: h2c\r\n',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n'
    )
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'Connection: close\r\n',
      'Connection: keep-alive\r\n',
      'Connection: upgrade\r\n',
      'Upgrade: h2c\r\n',
      'Expect: 100-continue\r\n',
      'Expect: it\r\n'
    )
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'Content-Length: 10\r\n',
      'Content-Length: 0\r\n',
      'Content-Length: -1\r\n',
      'Content-Length: 2000000\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Transfer-Encoding: x\r\n'
    )
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'Authorization: Basic eDp4\r\n',
      'Content-Type: application/json\r\n',
      'X: \u00ff\r\n',
      ': x\r\n',
      'X: a\r\n b\r\n',
      `X: ${'x'.repeat(17_000)}\r\n`,
      'a:\r\n'.repeat(1_100)
    )
  }
);

/** A body and the header that announces it, correct or not. */
const framed = fc.oneof(
  { weight: 4, arbitrary: fc.constant('\r\n') },
  {
    weight: 3,
    arbitrary: fc
      .oneof(fc.string({ unit: 'binary-ascii', maxLength: 40 }), fc.constantFrom(...NODE_CALLS))
      .map((body) => `Content-Length: ${body.length}\r\n\r\n${body}`)
  },
  {
    weight: 2,
    arbitrary: fc
      .string({ unit: 'binary-ascii', maxLength: 20 })
      .map((body) => `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
  },
  { weight: 1, arbitrary: fc.constantFrom('Transfer-Encoding: chunked\r\n\r\nzz\r\n', 'Content-Length: 30\r\n\r\nabc') }
);

/** Arbitrary clients that know these paths. */
function strangers(paths: readonly string[]): fc.Arbitrary<Stranger> {
  const path = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...paths) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...paths), fc.string({ maxLength: 10 })).map((parts) => parts.join('')) }
  );
  const request = fc
    .tuple(
      method,
      path,
      fc.constantFrom('1.1', '1.1', '1.1', '1.1', '1.0', '2.0'),
      fc.constantFrom('Host: x\r\n', 'Host: x\r\n', 'Host: x\r\n', ''),
      fc.array(header, { maxLength: 2 }),
      framed
    )
    .map(([name, target, version, host, headers, rest]) => `${name} ${target} HTTP/${version}\r\n${host}${headers.join('')}${rest}`);
  const piece = fc.oneof({ weight: 12, arbitrary: request }, { weight: 1, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 60 }) });
  return fc
    .record({
      text: fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join('')),
      /** A byte that is changed or left out, at a place given as a share of the length. */
      damage: fc.option(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom('', '\0', '\r', '\n', ' ', 'x')), { freq: 8 }),
      cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }),
      reads: fc.integer({ min: 0, max: 5 }).map((roll) => roll > 0),
      stays: fc.constantFrom(0, 1, 3, 10, 30),
      leaves: fc.constantFrom('end' as const, 'destroy' as const, 'resetAndDestroy' as const)
    })
    .map(({ text, damage, cuts, ...rest }) => {
      const at = damage === null ? 0 : Math.floor(damage[0] * text.length);
      const bytes = Buffer.from(damage === null ? text : `${text.slice(0, at)}${damage[1]}${text.slice(at + 1)}`, 'latin1');
      const places = [0, ...cuts.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b), bytes.length];
      return { ...rest, writes: places.slice(1).map((end, i) => bytes.subarray(places[i], end)) };
    });
}

const CONNECTIONS = 10_000;
/** Connections at a time. */
const TOGETHER = 50;
/** Connections that are generated together; memory is first measured after one batch. */
const BATCH = 1_000;
/** How much more memory may be held at the end than after a first batch: for caches, and for what bcoin keeps. */
const MOST_BYTES = 16_000_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a node that is sent arbitrary bytes', function () {
  const seed = testSeed();
  const connections = CONNECTIONS * testScale();
  this.timeout(300_000 * testScale());
  let served: RestNode;
  let paths: string[];

  before(async () => {
    served = await openRestNode({ settings: { 'no-auth': true, 'rest-cache': 4 } });
    await chainWithSpends(served.node);
    await untilReady(served);
    const block = toDisplayHex(served.rest.node.tip().hash);
    const { tx } = JSON.parse((await ask(served.port, { path: `/rest/block/${block}.json` })).body.toString()) as {
      tx: [{ txid: string }, { txid: string }];
    };
    const { txid } = tx[1];
    paths = [
      '/rest/chaininfo.json',
      '/rest',
      '/rest/',
      '/rest/nothing',
      '/rest/mempool/info.json',
      '/rest/mempool/contents.json',
      `/rest/tx/${txid}.json`,
      `/rest/tx/${txid}.bin`,
      `/rest/block/${block}.json`,
      `/rest/block/notxdetails/${block}.hex`,
      `/rest/headers/2000/${block}.hex`,
      `/rest/getutxos/checkmempool/${txid}-0.json`,
      '/rest/getutxos.bin',
      '/rest/getutxos.hex',
      '/',
      '/socket.io',
      '/nothing'
    ];
  });

  after(() => served.node.close());

  async function visit({ writes, reads, stays, leaves }: Stranger): Promise<void> {
    const socket: Socket = connect(served.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    if (reads) socket.resume();
    await once(socket, 'connect');
    for (const part of writes) {
      if (!socket.destroyed) socket.write(part);
      await turn();
    }
    for (let i = 0; i < stays && !socket.destroyed; i++) await turn();
    if (leaves === 'end') socket.resume().end();
    // Then the server closes, unless it is still making a reply.
    for (let i = 0; leaves === 'end' && i < stays && !socket.destroyed; i++) await turn();
    if (leaves === 'resetAndDestroy') socket.resetAndDestroy();
    else socket.destroy();
    await closed;
  }

  async function visitAll(count: number, from: number): Promise<void> {
    const arbitrary = strangers(paths);
    for (let done = 0; done < count; done += BATCH) {
      const batch = fc.sample(arbitrary, { seed: from + done, numRuns: Math.min(BATCH, count - done) });
      await Promise.all(
        Array.from({ length: TOGETHER }, async () => {
          for (let next = batch.pop(); next !== undefined; next = batch.pop()) await visit(next);
        })
      );
    }
    await until(async () => (await countConnections(served.rest.http.server)) === 0);
  }

  it(`answers as before after ${connections} connections, and keeps no memory of them, TEST_SEED=${seed}`, async () => {
    const asked = paths.filter((path) => path !== '/socket.io' && path !== '/');
    const answers = (): Promise<unknown> =>
      Promise.all(
        asked.map(async (path) => {
          const { status, body } = await ask(served.port, { path });
          return [path, status, body.toString('latin1')];
        })
      );
    const before = await answers();
    await visitAll(BATCH, seed);
    const bytes = await heldBytes();
    await visitAll(connections - BATCH, seed + BATCH);
    expect(await answers()).to.deep.equal(before);
    expect((await heldBytes()) - bytes).to.be.below(MOST_BYTES);
    // A reader has no interface of the node's beside ours.
    if (isFleetWanted) return;
    const call = await ask(served.port, {
      method: 'POST',
      path: '/',
      body: Buffer.from('{"method":"getblockcount","params":[]}'),
      headers: { 'Content-Type': 'application/json' }
    });
    expect(JSON.parse(call.body.toString())).to.include({ result: served.node.chain.height });
  });

  it('continues after upgrade requests that follow other requests', async () => {
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'x3JJHMbDL1EzLkh9GBhXDw=='
    };
    const asking = { path: '/rest/chaininfo.json', headers };
    const body = Buffer.alloc(5);
    for (const others of [
      [],
      [{ path: '/rest/chaininfo.json' }],
      [{ method: 'POST', path: '/rest/getutxos.bin', body }],
      Array.from({ length: 30 }, () => ({ path: '/' })),
      [{ path: '/rest/mempool/contents.json' }, asking]
    ]) {
      const replies = await askInOneWrite(served.port, [
        ...others,
        asking,
        ...others,
        { path: '/rest/chaininfo.json' },
        // Last, since not every version of Node reads on behind such a body.
        { method: 'POST', path: '/rest/getutxos.bin', headers: { ...headers, Connection: 'Upgrade, close' }, body: Buffer.of(0, 5) }
      ]);
      expect(replies).to.have.length(2 * others.length + 3);
      expect(replies.at(-2)).to.have.property('status', 200);
      expect(replies[others.length]?.body).to.deep.equal(replies.at(-2)?.body);
      expect(replies.at(-1)?.body.toString()).to.equal('Parse error\r\n');
    }
    if (isFleetWanted) return;
    const socket = await openSocket(served.port);
    socket.write(requestBytes({ path: '/socket.io', headers }, false));
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    expect(greeting.toString('latin1')).to.match(/^HTTP\/1.1 101 Switching Protocols\r\n/);
    socket.destroy();
    await untilClosed(socket).catch(() => undefined);
  });
});
