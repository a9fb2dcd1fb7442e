import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { strangers, type Stranger } from '../support/any-bytes';
import { ask, askInOneWrite, openSocket, requestBytes, untilClosed } from '../support/http';
import { chainWithSpends } from '../support/regtest-chain';
import { openRestNode, untilReady, type RestNode } from '../support/rest-node';
import { testScale, testSeed } from '../support/scale';
import { until } from '../support/until';

const CONNECTIONS = 10_000;
/** Connections at a time. */
const TOGETHER = 50;
/** Connections that are generated together; memory is first measured after one batch. */
const BATCH = 1_000;
/** How much more memory may be held at the end than after a first batch: for caches, and for what bcoin keeps. */
const MOST_BYTES = 16_000_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('a node that is sent arbitrary bytes', function () {
  const seed = testSeed();
  const connections = CONNECTIONS * testScale();
  this.timeout(300_000 * testScale());
  let served: RestNode;
  let paths: string[];

  before(async () => {
    served = await openRestNode({ settings: { 'no-auth': true, 'rest-cache': 4 } });
    await untilReady(served);
    await chainWithSpends(served.node);
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

  const countConnections = (): Promise<number> =>
    new Promise((resolve, reject) => {
      served.rest.node.httpServer.getConnections((error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });

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
    await until(async () => (await countConnections()) === 0);
  }

  const heldBytes = async (): Promise<number> => {
    for (let i = 0; i < 3; i++) {
      await turn();
      collect();
    }
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };

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
    const socket = await openSocket(served.port);
    socket.write(requestBytes({ path: '/socket.io', headers }, false));
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    expect(greeting.toString('latin1')).to.match(/^HTTP\/1.1 101 Switching Protocols\r\n/);
    socket.destroy();
    await untilClosed(socket).catch(() => undefined);
  });
});
