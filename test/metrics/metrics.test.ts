import { spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { BehaviorSubject } from 'rxjs';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import * as plugin from '../../plugin';
import { begunDuring } from '../support/client/begun-requests';
import { compiledProgram } from '../support/process/compiled';
import { openElectrumNode } from '../support/node/electrum-node';
import { newFolder } from '../support/process/folders';
import { ask, askInOneWrite, basicAuth, openSocket, requestBytes, untilClosed, type RawReply } from '../support/client/http';
import { needsProgram } from '../support/process/installed';
import { LineClient } from '../support/client/line-client';
import { PushClient } from '../support/client/push-client';
import { projectFolder } from '../support/process/project-folder';
import { freePort, mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { testScale } from '../support/process/scale';
import { gatedBy, ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import { scrape } from './scrape';
import type { TestFullNode } from '../support/bcoin/bcoin';

const REQUESTS = 'bcoin_rest_request_duration_seconds_count';
const AUTHORIZATION = { Authorization: basicAuth('x:key') };

describe('a node without metrics', () => {
  it('does not load the package for them', async () => {
    expect(packagesOf({ 'rest-addresses': true, 'rest-metrics': await freePort() })).to.include('prom-client');
    expect(packagesOf({ 'rest-addresses': true }))
      .to.include('rxjs')
      .and.not.include('prom-client');
  });

  /** In a process of its own: this one may have loaded it for other tests. */
  function packagesOf(settings: object): string[] {
    // Dependencies use what newer Node.js deprecate.
    const flags = ['--no-deprecation', compiledProgram('loaded-packages'), JSON.stringify(settings)];
    const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
    expect(stderr).to.equal('');
    return JSON.parse(stdout) as string[];
  }
});

describe('metrics', () => {
  let served: ServedNode;
  let port: number;
  let electrum: number;

  before(async () => {
    [port, electrum] = [await freePort(), await freePort()];
    served = await ServedNode.open({
      settings: { 'rest-metrics': port, 'rest-electrum': electrum, 'rest-core': 'modern', 'rest-filters': true, apiKey: 'key' }
    });
    await mine(served.node, 5);
    await served.settle();
  });
  after(() => served.close());

  const get = (path: string): Promise<RawReply> => ask(port, { path });
  const call = (body: unknown): Promise<RawReply> =>
    ask(served.port, { method: 'POST', path: '/', headers: AUTHORIZATION, body: Buffer.from(JSON.stringify(body)) });
  /** How much each value has grown by what is done. */
  const growth = async (work: () => Promise<unknown>, ...asked: [string, Record<string, string>?][]): Promise<(number | undefined)[]> => {
    const earlier = await scrape(port);
    await work();
    const later = await scrape(port);
    return asked.map(([name, labels]) => (later.value(name, labels) ?? 0) - (earlier.value(name, labels) ?? 0));
  };

  it('count requests by interface, route and status class, also those that are answered from memory', async () => {
    const grown = await growth(
      async () => {
        const hash = toDisplayHex(served.source.tip().hash);
        for (let i = 0; i < 4; i++) await ask(served.port, { path: `/rest/headers/1/${hash}.bin` });
        await ask(served.port, { path: '/rest/tx/nothing' });
        await ask(served.port, { path: '/rest/no-such-endpoint' });
        await served.get('/blocks/tip/height');
        await served.get('/tx/nothing');
      },
      [REQUESTS, { interface: 'rest', route: '/rest/headers/', outcome: '2xx' }],
      ['bcoin_rest_cache_hits_total', { cache: 'answers_reply' }],
      [REQUESTS, { interface: 'rest', route: '/rest/tx/', outcome: '4xx' }],
      [REQUESTS, { interface: 'rest', route: 'none', outcome: '4xx' }],
      [REQUESTS, { interface: 'esplora', route: 'GET /blocks/tip/height', outcome: '2xx' }],
      [REQUESTS, { interface: 'esplora', route: 'GET /tx/:txid', outcome: '4xx' }]
    );
    expect(grown).to.deep.equal([4, 2, 1, 1, 1, 1]);
  });

  it('count calls of JSON-RPC by method, those of the node together', async () => {
    const grown = await growth(
      async () => {
        await call([{ method: 'getblockcount' }, { method: 'getblockhash', params: [1_000_000] }, { method: 'getinfo' }]);
        await call({ method: 'getinfo' });
        await until(async () => (await scrape(port)).value(REQUESTS, { interface: 'rpc', route: 'of the node' }) === 2);
      },
      [REQUESTS, { interface: 'rpc', route: 'getblockcount', outcome: 'ok' }],
      [REQUESTS, { interface: 'rpc', route: 'getblockhash', outcome: 'error' }],
      [REQUESTS, { interface: 'rpc', route: 'of the node' }]
    );
    expect(grown).to.deep.equal([1, 1, 2]);
  });

  it('count methods of the Electrum protocol and requests of the WebSocket, subscriptions and notifications', async () => {
    const client = await LineClient.connect(electrum);
    const pushed = await PushClient.connect(served.port);
    const grown = await growth(
      async () => {
        await client.ask('blockchain.headers.subscribe');
        await client.ask('blockchain.scripthash.subscribe', [randomBytes(32).toString('hex')]);
        await client.ask('blockchain.block.header', [1_000_000]);
        await pushed.ask({ action: 'want', data: ['blocks'] });
        await mine(served.node, 1);
        await client.line();
        await pushed.next('block');
        await served.settle();
      },
      [REQUESTS, { interface: 'electrum', route: 'blockchain.headers.subscribe', outcome: 'ok' }],
      [REQUESTS, { interface: 'electrum', route: 'blockchain.block.header', outcome: 'error' }],
      [REQUESTS, { interface: 'push', route: 'want', outcome: 'ok' }],
      ['bcoin_rest_notifications_total'],
      ['bcoin_rest_subscriptions', { to: 'tips' }],
      ['bcoin_rest_subscriptions', { to: 'scripts' }],
      ['bcoin_rest_block_duration_seconds_count', { of: 'index' }],
      ['bcoin_rest_block_duration_seconds_count', { of: 'scripts' }]
    );
    expect(grown).to.deep.equal([1, 1, 1, 2, 1, 1, 1, 1]);
    expect((await scrape(port)).value('bcoin_rest_sessions')).to.equal(2);
    await until(async () => (await scrape(port)).value('bcoin_rest_block_notified_seconds_count') === 1);
    client.socket.destroy();
    pushed.socket.terminate();
    await until(async () => (await scrape(port)).value('bcoin_rest_sessions') === 0);
  });

  it('measure a block of which nobody is told but a WebSocket', async () => {
    const pushed = await PushClient.connect(served.port);
    await pushed.ask({ action: 'want', data: ['blocks'] });
    const counted = async (): Promise<number> => (await scrape(port)).value('bcoin_rest_block_notified_seconds_count') ?? 0;
    const before = await counted();
    await mine(served.node, 1);
    await pushed.next('block');
    await until(async () => (await counted()) === before + 1);
    pushed.socket.terminate();
    await until(async () => (await scrape(port)).value('bcoin_rest_sessions') === 0);
  });

  it('have heights, lags, work and what can be undone', async () => {
    const { height } = served.source.tip();
    const found = await scrape(port);
    for (const name of ['node', 'index', 'scripts']) expect(found.value('bcoin_rest_height', { of: name }), name).to.equal(height);
    for (const name of ['index', 'scripts']) expect(found.value('bcoin_rest_lag_blocks', { of: name }), name).to.equal(0);
    for (const name of ['index', 'scripts']) expect(found.value('bcoin_rest_ready', { of: name }), name).to.equal(1);
    expect(found.value('bcoin_rest_undo_left_blocks', { of: 'index' })).to.equal(height);
    for (const job of ['indexing', 'scripts_indexing']) expect(found.value('bcoin_rest_job_progress_ratio', { job }), job).to.equal(1);
    expect(found.value('bcoin_rest_refused_blocks')).to.equal(0);
  });

  it('have the caches that docs/architecture.md has', async () => {
    const [, section = ''] = readFileSync(join(projectFolder, 'docs/architecture.md'), 'utf8').split(/^## Caches$/m);
    const [table = ''] = section.split('Bounds for clients');
    const rows = table.split('\n').filter((line) => line.startsWith('|'));
    const listed = rows.flatMap((row) => [...(row.split(' | ').at(-1) ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    const found = await scrape(port);
    const shown = ['hits_total', 'misses_total', 'bytes', 'entries'].flatMap((what) => [
      ...found.labels(`bcoin_rest_cache_${what}`, 'cache')
    ]);
    // A node has none of a reader's.
    expect(listed.filter((name) => !name.startsWith('fleet_')).sort()).to.deep.equal([...new Set(shown)].sort());
  });

  it('have reorganizations with their depth', async () => {
    const { node } = served;
    const fork = await node.chain.getEntry(node.chain.tip.height - 2);
    const grown = await growth(
      async () => {
        await mine(node, 3, fork ?? undefined);
        await served.settle();
      },
      ['bcoin_rest_reorganization_depth_blocks_count'],
      ['bcoin_rest_reorganization_depth_blocks_sum']
    );
    expect(grown).to.deep.equal([1, 2]);
  });

  it('have no label that a client can make grow', async function () {
    this.timeout(60_000 * testScale());
    const client = await LineClient.connect(electrum);
    const shoot = async (): Promise<void> => {
      const paths = Array.from(
        { length: 100 },
        () => `/${['rest', 'api', 'rest/tx', 'api/tx', 'api/address'][randomInt(5)] ?? ''}/${randomBytes(4).toString('hex')}`
      );
      const methods = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'REPORT'];
      await askInOneWrite(
        served.port,
        paths.map((path) => ({ path, method: methods[randomInt(methods.length)] ?? 'GET' }))
      );
      await call(Array.from({ length: 100 }, () => ({ method: randomBytes(4).toString('hex') })));
      for (let i = 0; i < 10; i++) await client.ask(randomBytes(4).toString('hex'));
    };
    for (let i = 0; i < 20; i++) await shoot();
    const known = (await scrape(port)).pairs;
    for (let i = 0; i < 5 * testScale(); i++) await shoot();
    client.socket.destroy();
    const added = [...(await scrape(port)).pairs].filter((pair) => !known.has(pair));
    // A server that is busy may refuse for the first time, or collect garbage in another way.
    expect(added.filter((pair) => !/^(outcome="[1-5]xx"|kind="(incremental|major|minor|weakcb)")$/.test(pair))).to.deep.equal([]);
  });

  it("are named by Prometheus' conventions", async function () {
    needsProgram(this, 'promtool');
    const { text } = await scrape(port);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect({ status, said: stdout + stderr }).to.deep.equal({ status: 0, said: '' });
  });

  describe('health', () => {
    const health = async (path: string): Promise<string> => {
      const { status, body } = await get(path);
      return `${status} ${body.toString().trim()}`;
    };

    it('says that the process turns, and that clients are answered', async () => {
      expect(await health('/healthz')).to.equal('200 ok');
      expect(await health('/readyz')).to.equal('200 ok');
      expect(await health('/readyz?of=scripts&maxlag=0')).to.equal('200 ok');
    });

    it('refuses questions that mean nothing', async () => {
      expect(await health('/readyz?maxlag=-1')).to.equal('400 maxlag must be a whole number from 0 to 1000000');
      expect(await health('/readyz?maxlag=')).to.equal('400 maxlag must be a whole number from 0 to 1000000');
      expect(await health('/readyz?of=pool')).to.equal('400 of must be index or scripts');
      expect(await health('/')).to.equal('404 /metrics, /healthz and /readyz are here');
      for (const path of ['//', '//x:99999', '/metrics/']) expect(await health(path), path).to.include('404 ');
      expect((await ask(port, { path: '/metrics', method: 'POST' })).status).to.equal(405);
    });
  });
});

describe('health of a node that does not answer', () => {
  let node: Awaited<ReturnType<typeof openRegtestNode>>;
  let port: number;

  before(async () => {
    port = await freePort();
    node = await openRegtestNode({ plugins: [plugin], settings: { 'rest-metrics': port } });
  });
  after(() => node.close());

  it("is 503 with the gate's text", async () => {
    Object.defineProperty(node.chain, 'synced', { get: () => false, set: () => undefined });
    await mine(node, 1);
    const readiness = (): Promise<RawReply> => ask(port, { path: '/readyz' });
    await until(async () => (await readiness()).body.toString().startsWith('syncing with the network, height 1 '));
    expect((await readiness()).status).to.equal(503);
    expect((await ask(port, { path: '/healthz' })).status).to.equal(200);
    expect((await ask(port, { path: '/readyz?of=scripts' })).body.toString()).to.equal(
      'there is no index by script without --rest-addresses\n'
    );
  });
});

describe('clients that are cut off', () => {
  it('are counted by reason', async () => {
    const port = await freePort();
    const held = await openElectrumNode({ settings: { 'rest-metrics': port, 'rest-electrum-cost': 100 }, isOwn: () => false });
    const client = await LineClient.connect(held.port);
    await client.ask('test.charge', [1_000]);
    await client.ask('server.ping');
    await until(async () => (await scrape(port)).value('bcoin_rest_clients_cut_off_total', { reason: 'session_cost' }) === 1);
    await held.node.close();
  });

  it('are turned away when there are too many', async () => {
    const port = await freePort();
    const electrum = await freePort();
    const served = await ServedNode.open(
      { settings: { 'rest-metrics': port, 'rest-electrum': electrum, 'rest-electrum-sessions': 1 } },
      gatedBy(new BehaviorSubject(true))
    );
    await until(() => served.wallets.electrum.addresses.length === 1);
    const first = await LineClient.connect(electrum);
    await first.ask('blockchain.headers.subscribe');
    const second = await LineClient.connect(electrum);
    expect(await second.line()).to.equal(undefined);
    expect((await scrape(port)).value('bcoin_rest_clients_cut_off_total', { reason: 'sessions_full' })).to.equal(1);
    first.socket.destroy();
    await served.close();
  });
});

describe('--rest-metrics', () => {
  describe('where strangers can reach it', () => {
    let node: TestFullNode;
    let port: number;
    before(async () => {
      port = await freePort();
      node = await openRegtestNode({ plugins: [plugin], prefix: await newFolder(), settings: { 'rest-metrics': port } });
    });
    after(() => node.close());

    it('answers who watches, however many connections are silent', async () => {
      const silent = await Promise.all(Array.from({ length: 60 }, () => openSocket(port)));
      expect((await ask(port, { path: '/healthz' })).status).to.equal(200);
      for (const socket of silent) socket.destroy();
    });

    it('answers who has asked, however many connections come before the reply', async () => {
      const asking = await openSocket(port);
      const reply = untilClosed(asking);
      // The reply has the sizes of folders.
      await holdDisk(async () => {
        asking.write(requestBytes({ path: '/metrics' }, true));
        expect((await ask(port, { path: '/healthz' })).status).to.equal(200);
        const silent = await Promise.all(Array.from({ length: 60 }, () => openSocket(port)));
        expect((await ask(port, { path: '/healthz' })).status).to.equal(200);
        for (const socket of silent) socket.destroy();
      });
      expect((await reply).toString()).to.include('bcoin_rest_disk_bytes{of="index"}');
    });

    it('makes no reply while the client has yet to get an earlier one', async () => {
      const asked = Array.from({ length: 1_000 }, () => ({ path: '/metrics' }));
      expect(await askInOneWrite(port, asked)).to.have.length.below(2);
      expect((await ask(port, { path: '/metrics' })).status).to.equal(200);
    });

    it('reads no more from a client that sends a request without a Host', async () => {
      const socket = await openSocket(port);
      socket.on('error', () => undefined);
      const begun = await begunDuring(port, async () => {
        socket.write('GET /metrics HTTP/1.1\r\n\r\n'.repeat(1_000));
        expect((await untilClosed(socket)).toString()).to.match(/^HTTP\/1.1 400 /);
      });
      expect(begun).to.equal(1);
    });
  });

  it('stops the node with a sentence when the port is in use', async () => {
    const port = await freePort();
    const first = await openRegtestNode({ plugins: [plugin], settings: { 'rest-metrics': port } });
    const second = openRegtestNode({ plugins: [plugin], settings: { 'rest-metrics': `127.0.0.1:${port}` } });
    const error = await second.then(
      () => undefined,
      (reason: unknown) => reason as Error
    );
    expect(error?.message).to.match(/^--rest-metrics cannot be listened on: listen EADDRINUSE/);
    await first.close();
  });
});

/** Does work while no file is looked up off the event loop: all threads that Node has for that wait. */
async function holdDisk(work: () => Promise<void>): Promise<void> {
  const pipe = join(await newFolder(), 'pipe');
  expect(spawnSync('mkfifo', [pipe]).status).to.equal(0);
  // Opening a pipe for reading waits for a writer.
  const held = Array.from({ length: Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) }, () => open(pipe, 'r'));
  try {
    await work();
  } finally {
    const writer = openSync(pipe, constants.O_RDWR);
    for (const opening of held) await (await opening).close();
    closeSync(writer);
  }
}
