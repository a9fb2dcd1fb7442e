import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { Handshakes } from '../../lib/server/bounds/handshakes';
import { until } from '../support/expectations/until';

const MOST = 200;

describe('handshakes of TLS under way', () => {
  let server: Server;
  const clients: Socket[] = [];

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
    server.close();
  });

  /** The server's end of a connection. */
  async function connected(): Promise<Socket> {
    const came = once(server, 'connection') as Promise<[Socket]>;
    clients.push(connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined));
    const [socket] = await came;
    return socket.on('error', () => undefined);
  }

  it('are 200 at most, without those that have ended: the oldest makes room', async () => {
    const handshakes = new Handshakes();
    const secure = await connected();
    handshakes.begin(secure, '10.0.0.1');
    expect(handshakes.end(secure)).to.equal('10.0.0.1');
    const under: Socket[] = [];
    for (let i = 0; i < MOST; i++) {
      const socket = await connected();
      handshakes.begin(socket);
      under.push(socket);
    }
    expect(handshakes.cutOff).to.equal(0);
    handshakes.begin(await connected());
    expect(handshakes.cutOff).to.equal(1);
    await until(() => under[0]?.closed === true);
    expect([secure, ...under.slice(1)].every(({ destroyed }) => !destroyed)).to.equal(true);
  });

  it('end with their connections', async () => {
    const handshakes = new Handshakes();
    for (let i = 0; i <= MOST; i++) {
      const socket = await connected();
      handshakes.begin(socket);
      socket.destroy();
      await once(socket, 'close');
    }
    expect(handshakes.cutOff).to.equal(0);
  });
});
