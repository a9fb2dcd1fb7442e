// Ten clients behind one real proxy, one of which asks for too much: it alone is slowed and cut off.

import { once } from 'node:events';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { openElectrumNode, type ElectrumNode } from '../../support/node/electrum-node';
import { ElectrumSocket } from '../../support/client/electrum-socket';
import { needsProgram } from '../../support/process/installed';
import { LineClient } from '../../support/client/line-client';
import { freePort } from '../../support/bcoin/regtest-node';
import { startHaproxy, startNginx, type StartedProxy } from './started-proxy';

const CLIENTS = 10;
const COST = 10_000;

/** The address of a client on this machine. */
const addressOf = (client: number): string => `127.0.1.${client + 1}`;

describe('behind a proxy', () => {
  let node: ElectrumNode;

  before(async () => {
    node = await openElectrumNode({ settings: { 'rest-trusted-proxies': '127.0.0.0/8', 'rest-electrum-cost': COST } });
  });
  after(() => node.node.close());

  for (const version of ['send-proxy', 'send-proxy-v2'])
    describe(`HAProxy (${version})`, () => {
      let proxy: StartedProxy | undefined;
      let port: number;

      before(async function () {
        needsProgram(this, 'haproxy');
        port = await freePort();
        proxy = await startHaproxy(
          `listen electrum\n  mode tcp\n  bind 127.0.0.1:${port}\n  server node 127.0.0.1:${node.port} ${version} check ${version === 'send-proxy' ? 'check-send-proxy' : ''}\n`,
          port
        );
      });
      after(() => proxy?.stop());

      it('one client that costs too much is answered after the others, and then cut off alone', async () => {
        const first = version === 'send-proxy' ? 0 : CLIENTS;
        const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, i) => LineClient.connect(port, addressOf(first + i))));
        const [abusive, ...others] = clients as [LineClient, ...LineClient[]];
        // Near the limit, its next request waits for longer than two seconds.
        await abusive.ask('test.charge', [0.9 * COST]);
        const answered: LineClient[] = [];
        await Promise.all(
          clients.map(async (client) => {
            expect((await client.ask('server.ping')).result).to.equal(null);
            answered.push(client);
          })
        );
        expect(answered.indexOf(abusive), 'the place of its answer').to.equal(others.length);
        await abusive.ask('test.charge', [COST]);
        expect((await abusive.ask('server.ping')).error?.message).to.equal('excessive resource usage');
        expect(await abusive.line()).to.equal(undefined);
        for (const other of others) expect((await other.ask('server.ping')).result).to.equal(null);
        for (const { socket } of others) socket.destroy();
      });
    });

  describe('nginx', () => {
    let proxy: StartedProxy | undefined;
    let port: number;

    before(async function () {
      needsProgram(this, 'nginx');
      port = await freePort();
      proxy = await startNginx(
        `# These clients stand for others elsewhere: on this machine all addresses are those of proxies.
        map $remote_addr $client { "~^127\\.0\\.1\\.(?<last>\\d+)$" 192.0.2.$last; }
        map $http_x_forwarded_for $before { "" ""; default "$http_x_forwarded_for, "; }
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass http://127.0.0.1:${node.httpPort};
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For "$before$client";
            proxy_set_header Forwarded "";
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection "upgrade";
          }
        }`,
        port
      );
    });
    after(() => proxy?.stop());

    const open = (client: number, headers: Readonly<Record<string, string>> = {}): Promise<ElectrumSocket> =>
      ElectrumSocket.connect(port, { localAddress: addressOf(client), headers });

    it('one client that costs too much is cut off alone, even if it says that it is another one', async () => {
      const others = await Promise.all(Array.from({ length: CLIENTS - 1 }, (_, i) => open(31 + i)));
      const abusive = await open(30, { 'X-Forwarded-For': '192.0.2.32' });
      await abusive.ask('test.charge', [2 * COST]);
      const closed = once(abusive.socket, 'close');
      expect((await abusive.ask('server.ping')).error?.message).to.equal('excessive resource usage');
      await closed;
      for (const other of others) expect((await other.ask('server.ping')).result).to.equal(null);
      for (const { socket } of others) socket.terminate();
    });
  });
});
