import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { openElectrumNode, type ElectrumNode } from '../support/node/electrum-node';
import { ElectrumSocket } from '../support/client/electrum-socket';
import { LineClient } from '../support/client/line-client';
import { freePort } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';

describe('clients behind a trusted proxy', () => {
  let node: ElectrumNode;
  let tlsPort: number;

  before(async () => {
    tlsPort = await freePort();
    node = await openElectrumNode({
      settings: { 'rest-trusted-proxies': '127.0.0.1', 'rest-electrum-tls': tlsPort, 'rest-electrum-cost': 10_000 }
    });
  });
  after(() => node.node.close());

  /** A connection through the proxy on this machine, for a client. */
  const proxied = async (client: string): Promise<LineClient> => {
    const socket = connect(node.port, '127.0.0.1');
    await once(socket, 'connect');
    // The header and the first request may come together.
    socket.write(`PROXY TCP4 ${client} 127.0.0.1 1234 50001\r\n{"id":0,"method":"server.ping"}\n`);
    const line = new LineClient(socket);
    await line.value();
    return line;
  };

  it('pay for themselves: one that costs too much is cut off, and others are not even slowed', async () => {
    const [abusive, honest] = [await proxied('192.0.2.1'), await proxied('192.0.2.2')];
    await abusive.ask('test.charge', [20_000]);
    expect((await abusive.ask('server.ping')).error?.message).to.equal('excessive resource usage');
    expect(await abusive.line()).to.equal(undefined);
    for (let i = 0; i < 20; i++) expect((await honest.ask('server.ping')).result).to.equal(null);
    // The same address again, by another connection.
    const again = connect(node.port, '127.0.0.1');
    again.write('PROXY TCP4 192.0.2.1 127.0.0.1 1235 50001\r\n{"id":0,"method":"server.ping"}\n');
    expect((await new LineClient(again).value()).error?.message).to.equal('excessive resource usage');
    honest.socket.destroy();
  });

  it('are named before TLS begins', async () => {
    const socket = connect(tlsPort, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('PROXY TCP4 192.0.2.3 127.0.0.1 1234 50002\r\n');
    const secure = connectSecurely({ socket, rejectUnauthorized: false });
    await once(secure, 'secureConnect');
    const line = new LineClient(secure);
    await line.ask('test.charge', [20_000]);
    expect((await line.ask('server.ping')).error?.message).to.equal('excessive resource usage');
    const other = await proxied('192.0.2.4');
    expect((await other.ask('server.ping')).result).to.equal(null);
    other.socket.destroy();
  });

  it('are named in the headers of a WebSocket', async () => {
    const open = (client: string): Promise<ElectrumSocket> =>
      ElectrumSocket.connect(node.httpPort, { headers: { 'X-Forwarded-For': client } });
    const [abusive, honest] = [await open('192.0.2.5'), await open('192.0.2.6')];
    await abusive.ask('test.charge', [20_000]);
    expect((await abusive.ask('server.ping')).error?.message).to.equal('excessive resource usage');
    expect((await honest.ask('server.ping')).result).to.equal(null);
    honest.socket.terminate();
  });

  it('need a proxy that speaks its protocol: another connection is cut off, alone, and the log names the option once', async () => {
    const lines = (): string[] => node.log.lines.filter((line) => line.includes('--rest-trusted-proxies'));
    const honest = await proxied('192.0.2.7');
    for (const begin of ['{"id":0,"method":"server.ping"}\n', 'PROXY TCP4 nonsense\r\n']) {
      const socket = connect(node.port, '127.0.0.1');
      socket.write(begin);
      expect(await new LineClient(socket).line()).to.equal(undefined);
    }
    await until(() => lines().length === 1);
    expect(lines()[0]).to.match(
      /^error A connection of (::ffff:)?127\.0\.0\.1, which --rest-trusted-proxies names, has no header of the PROXY protocol: /
    );
    expect((await honest.ask('server.ping')).result).to.equal(null);
    honest.socket.destroy();
  });

  it('may leave before they are named, which is nothing for the log', async () => {
    const { length } = node.log.lines;
    const socket = connect(node.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    const other = await proxied('192.0.2.8');
    expect((await other.ask('server.ping')).result).to.equal(null);
    other.socket.destroy();
    expect(node.log.lines.slice(length)).to.deep.equal([]);
  });

  it('share the limits of the proxy if it does not know them', async () => {
    const socket = connect(node.port, '127.0.0.1');
    socket.write('PROXY UNKNOWN\r\n');
    const unknown = new LineClient(socket);
    await unknown.ask('test.charge', [20_000]);
    expect((await unknown.ask('server.ping')).error?.message).to.equal('excessive resource usage');
  });
});

describe('--rest-trusted-proxies', () => {
  it('is refused with a sentence unless it has addresses and networks', async () => {
    for (const value of ['everybody', '10.0.0.0/33', '10.0.0.0/', '10.0.0.1,', '::1/129', '1.2.3.4/8/8'])
      await openElectrumNode({ settings: { 'rest-trusted-proxies': value } }).then(
        () => expect.fail(value),
        (error: unknown) => {
          expect((error as Error).message).to.equal(
            `--rest-trusted-proxies must be addresses or networks such as 10.0.0.0/8, separated by commas, not '${value}'`
          );
        }
      );
  });
});
