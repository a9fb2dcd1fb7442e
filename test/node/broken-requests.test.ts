import { once, type EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { expect } from 'chai';
import { BcoinHttp } from '../../lib/node/bcoin-http';
import { ask, openSocket } from '../support/client/http';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { AddressInfo, Socket } from 'node:net';
import type { TestFullNode } from '../support/bcoin/bcoin';

/** The part of bweb that bcoin's own routes use. */
interface Router {
  get(path: string, handler: (request: unknown, response: unknown) => Promise<void>): void;
}

describe('requests to bcoin’s own interface that break off', () => {
  let host: TestFullNode;
  let http: BcoinHttp;

  beforeEach(async () => {
    host = await openRegtestNode();
    http = new BcoinHttp(host);
  });

  afterEach(() => host.close());

  it('do not end the process', async () => {
    const { port } = http.server.address() as AddressInfo;
    const asked = new Promise<void>((resolve) => {
      // bweb looks at the number of a handler's parameters.
      (host.http as unknown as Router).get('/slow', (request, response) => {
        resolve();
        return new Promise(() => [request, response]);
      });
    });
    const connected = once(http.server, 'connection') as Promise<[Socket]>;
    const socket = await openSocket(port);
    const [ofServer] = await connected;
    const gone = new Promise((resolve) => ofServer.once('close', resolve));
    // bcoin does not read the body of a GET.
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello');
    await asked;
    socket.resetAndDestroy();
    await gone;
    expect((await ask(port, { path: '/' })).status).to.equal(200);
  });

  it('are no errors of the node, as other failures of its server are', async () => {
    const { port } = http.server.address() as AddressInfo;
    const errors: string[] = [];
    (host as unknown as EventEmitter).on('error', ({ message }: Error) => errors.push(message));
    for (const { sent, end } of [
      { sent: 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{', end: (socket: Socket) => socket.end() },
      { sent: 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{', end: (socket: Socket) => socket.resetAndDestroy() },
      { sent: 'NONSENSE\r\n\r\n', end: (socket: Socket) => socket.end() }
    ]) {
      const connected = once(http.server, 'connection') as Promise<[Socket]>;
      const socket = await openSocket(port);
      const [ofServer] = await connected;
      const gone = new Promise((resolve) => ofServer.once('close', resolve));
      socket.write(sent);
      await until(() => ofServer.bytesRead === sent.length);
      end(socket);
      await gone;
    }
    const failure = new Error('the server fails');
    (host.http as unknown as EventEmitter).emit('error', failure);
    expect(errors).to.deep.equal([failure.message]);
  });
});
