import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer as createTlsServer, connect as connectOverTls, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { SlowReaders } from '../../lib/server/bounds/slow-readers';
import { makeOwnCertificate } from '../../lib/server/ports/own-certificate';
import { until } from '../support/expectations/until';

/** More than two systems keep for a connection, so that it waits for the client. */
const REPLY = Buffer.alloc(16 * 1024 * 1024);
const WINDOW_MS = 1_000;

describe('clients that have something to read', () => {
  let server: Server;
  let client: Socket;

  afterEach(() => {
    client.destroy();
    server.close();
  });

  /** A client that pauses, and the server's end of its connection. */
  async function connected(): Promise<Socket> {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    client.on('error', () => undefined);
    const [socket] = (await once(server, 'connection')) as [Socket];
    return socket;
  }

  /** The same over TLS, on a connection that came over an ordinary port. */
  async function connectedOverTls(): Promise<Socket> {
    const { certificate: cert, key } = await makeOwnCertificate('127.0.0.1');
    const tls = createTlsServer({ cert, key });
    server = createServer((socket) => tls.emit('connection', socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connectOverTls({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', rejectUnauthorized: false }).pause();
    client.on('error', () => undefined);
    const [socket] = (await once(tls, 'secureConnection')) as [TLSSocket];
    return socket;
  }

  for (const [name, connection] of [
    ['a plain connection', connected],
    ['TLS', connectedOverTls]
  ] as const) {
    it(`are cut off over ${name} when they read a little now and then, and not while they read fast enough`, async () => {
      const socket = await connection();
      socket.on('error', () => undefined).write(REPLY);
      const readers = new SlowReaders({ bytesPerSecond: 200_000, windowMs: WINDOW_MS });
      readers.watch(socket);
      let read = 0;
      client.on('data', ({ length }) => (read += length));
      // Several times as fast as it has to.
      for (const end = performance.now() + 2 * WINDOW_MS; performance.now() < end && read < REPLY.length;) {
        const before = read;
        client.resume();
        await until(() => read >= before + 800_000 || read === REPLY.length);
        client.pause();
        await delay(50);
      }
      expect(socket.destroyed).to.equal(false);
      socket.write(REPLY);
      // A kilobyte at a time.
      while (!socket.destroyed) {
        client.read(1_000);
        await delay(20);
      }
      expect(read).to.be.below(2 * REPLY.length);
    });
  }

  it('are not charged for a time in which the event loop was held', async () => {
    const socket = await connected();
    const readers = new SlowReaders({ bytesPerSecond: 1_000, windowMs: WINDOW_MS });
    socket.on('error', () => undefined).write(REPLY);
    // Until the system has taken what it can, and the client begins to be late.
    await delay(WINDOW_MS / 5);
    readers.watch(socket);
    for (const end = performance.now() + 2 * WINDOW_MS; performance.now() < end;);
    await delay(WINDOW_MS / 5);
    expect(socket.destroyed).to.equal(false);
    await new Promise((resolve) => socket.once('close', resolve));
  });

  it('are left alone once they have read everything', async () => {
    const socket = await connected();
    const readers = new SlowReaders({ bytesPerSecond: 1_000_000, windowMs: 50 });
    readers.watch(socket);
    readers.watch(socket);
    await delay(200);
    expect(socket.destroyed, 'nothing waits').to.equal(false);
    socket.write(REPLY);
    readers.unwatch(socket);
    readers.unwatch(socket);
    await delay(200);
    expect(socket.destroyed).to.equal(false);
    // Two replies wait, and one of them was read.
    readers.watch(socket);
    readers.watch(socket);
    readers.unwatch(socket);
    await once(socket, 'close');
  });
});
