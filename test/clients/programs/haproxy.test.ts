// HAProxy as docs/haproxy.cfg has it, in front of two nodes.

import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { Haproxy, hasHaproxy, needsHaproxy, type ProxiedServer } from '../../support/fleet/haproxy';
import { LineClient } from '../../support/client/line-client';
import { freePort, mine } from '../../support/bcoin/regtest-node';
import { ServedNode } from '../../support/node/served-node';
import type { IncomingHttpHeaders } from 'node:http';
import type { HostFullBlock } from '../../support/bcoin/bcoin';

const TIMEOUT_MS = 120_000;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The servers behind it, which keep their ports. */
const SERVERS = ['reader1', 'reader2'] as const;

describe('HAProxy in front of two servers', function () {
  this.timeout(TIMEOUT_MS);
  let ports: [ProxiedServer, ProxiedServer];
  let served: [ServedNode, ServedNode];
  let proxy: Haproxy;
  let agent: Agent;
  let blocks: HostFullBlock[];

  const openServer = async (at: 0 | 1): Promise<ServedNode> => {
    const { http, electrum } = ports[at];
    const opened = await ServedNode.open({ settings: { httpPort: http, 'http-port': http, 'rest-electrum': electrum } });
    for (const block of blocks) await opened.node.chain.add(block);
    await opened.settle();
    return opened;
  };

  before(async function () {
    needsHaproxy(this);
    blocks = [];
    ports = [
      { http: await freePort(), electrum: await freePort() },
      { http: await freePort(), electrum: await freePort() }
    ];
    served = [await openServer(0), await openServer(1)];
    blocks.push(...(await mine(served[0].node, 5)));
    for (const block of blocks) await served[1].node.chain.add(block);
    await Promise.all(served.map((one) => one.settle()));
    proxy = await Haproxy.open(ports);
    for (const name of SERVERS) await proxy.untilSeen(name, 'UP');
  });
  after(async () => {
    if (!hasHaproxy) return;
    await proxy.close();
    await Promise.all(served.map((one) => one.close()));
  });
  beforeEach(() => {
    agent = new Agent({ keepAlive: true, ca: proxy.ca });
  });
  afterEach(() => {
    agent.destroy();
  });

  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: proxy.ports.http, path, method, headers, agent }, (reply) => {
        let body = '';
        reply.setEncoding('utf8');
        reply.on('data', (text: string) => (body += text));
        reply.on('error', reject);
        reply.on('end', () => {
          resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body });
        });
      });
      sent.on('error', reject);
      sent.end();
    });
  const height = async (headers: Readonly<Record<string, string>> = {}): Promise<number> => {
    const { status, body } = await get('/api/blocks/tip/height', headers);
    if (status !== 200) throw new Error(`${status} ${body}`);
    return Number(body);
  };

  it('serves /rest and /api over TLS, and nothing else', async () => {
    for (const [path, status] of [
      ['/rest/chaininfo.json', 200],
      ['/api/blocks/tip/height', 200],
      ['/fleet/health', 403],
      ['/', 403],
      ['/mempool', 403]
    ] as const)
      expect((await get(path)).status, path).to.equal(status);
    expect((await get('/', {}, 'POST')).status).to.equal(403);
  });

  it('keeps a client at one server, and asks another one for the block that the client has seen', async () => {
    const before = blocks.length;
    await proxy.say('clear table rest');
    await proxy.set('reader1', 'drain');
    expect(await height()).to.equal(before);
    await proxy.set('reader1', 'ready');
    const [mined] = await mine(served[0].node, 1);
    blocks.push(mined as HostFullBlock);
    await served[0].settle();
    for (let i = 0; i < 10; i++) expect(await height()).to.equal(before);
    // The second server waits, gives up, and the proxy asks the first one.
    expect(await height({ 'X-Rest-Min-Tip': String(before + 1) })).to.equal(before + 1);
    await served[1].node.chain.add(mined as HostFullBlock);
    await served[1].settle();
  });

  for (const [way, prepare] of [
    ['taken out before', (name: (typeof SERVERS)[number]) => proxy.set(name, 'drain')],
    ['not announced', () => Promise.resolve()]
  ] as const)
    it(`lets no request fail while one server after the other is started anew, ${way}`, async () => {
      const run = { isOver: false, requests: 0 };
      const failures: string[] = [];
      const ask = async (): Promise<void> => {
        while (!run.isOver) {
          const answer = await get('/rest/chaininfo.json').catch((error: unknown) => String(error));
          run.requests++;
          if (typeof answer === 'string' || answer.status !== 200)
            failures.push(typeof answer === 'string' ? answer : `${answer.status} ${answer.body}`);
        }
      };
      const clients = Promise.all([ask(), ask(), ask()]);
      for (const at of [0, 1] as const) {
        const name = SERVERS[at];
        await prepare(name);
        await delay(300);
        await served[at].close();
        await delay(1_000);
        served[at] = await openServer(at);
        await proxy.set(name, 'ready');
        await proxy.untilSeen(name, 'UP');
      }
      run.isOver = true;
      await clients;
      expect(failures.slice(0, 5)).to.deep.equal([]);
      expect(run.requests).to.be.greaterThan(20);
    });

  it('ends TLS for the Electrum protocol, and leads wallets to a server that answers', async () => {
    const connect = async (): Promise<LineClient> => {
      const socket = connectTls({ host: '127.0.0.1', port: proxy.ports.electrum, ca: proxy.ca });
      await once(socket, 'secureConnect');
      return new LineClient(socket);
    };
    const version = { id: 1, method: 'server.version', params: ['test', '1.4'] };
    const first = await connect();
    first.send(version);
    expect(await first.value()).to.have.property('result');
    await served[0].close();
    await proxy.untilSeen('reader1', 'DOWN');
    const second = await connect();
    second.send(version);
    expect(await second.value()).to.have.property('result');
    first.socket.destroy();
    second.socket.destroy();
    served[0] = await openServer(0);
    await proxy.untilSeen('reader1', 'UP');
  });
});
