import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { IdleConnections } from '../../lib/rest/server/connections';
import { openSocket, requestBytes, untilClosed } from '../support/http';

describe('idle connections', () => {
  let server: Server;
  let connections: IdleConnections;
  /** The errors that bcoin would log. */
  let errors: Error[];

  const serve = async (timeoutMs: number, answer: RequestListener, options: ServerOptions = {}): Promise<void> => {
    errors = [];
    server = createServer(options, (request, response) => {
      connections.requestCame(request.socket);
      answer(request, response);
    });
    connections = new IdleConnections(server, timeoutMs);
    connections.open();
    server.on('connection', (socket: Socket) => socket.on('error', (error) => errors.push(error)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  };
  const replyTo = async (bytes: string): Promise<string> => {
    const socket = await openSocket((server.address() as AddressInfo).port);
    socket.write(bytes);
    return (await untilClosed(socket)).toString();
  };
  const request = requestBytes({ path: '/' }, false).toString();

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('are cut off without an error, also with part of a request', async () => {
    await serve(20, (_, response) => response.end('whole'));
    for (const begun of ['', '\r\n', 'G', 'GET / HTTP/1.1\r\nHo', 'GET / HTTP/1.1\r\nHost: x\r\n'])
      expect(await replyTo(begun), begun).to.equal('');
    expect(errors).to.deep.equal([]);
  });

  it('are cut off after a reply, too', async () => {
    await serve(3_000, (_, response) => response.end('whole'));
    const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc';
    const replies = await Promise.all(
      [request, `${request}GET /`, `${request}POST / HTTP/1.1\r\nHost: x\r\nContent-Le`, post].map(replyTo)
    );
    for (const reply of replies) expect(reply).to.match(/^HTTP\/1.1 200 OK\r\n[^]*whole$/);
    expect(errors).to.deep.equal([]);
  });

  it('do not include those that wait for a reply', async () => {
    const timeouts: (number | undefined)[] = [];
    await serve(30_000, ({ socket }, response) => {
      timeouts.push(socket.timeout);
      response.end();
    });
    await replyTo(request + requestBytes({ path: '/' }, true).toString());
    expect(timeouts).to.deep.equal([0, 0]);
  });

  it('keep a timeout that other code has set', async () => {
    const timeouts: (number | undefined)[] = [];
    await serve(30_000, ({ socket }, response) => {
      timeouts.push(socket.timeout);
      socket.setTimeout(40_000);
      setImmediate(() => response.end());
    });
    await replyTo(request + requestBytes({ path: '/' }, true).toString());
    expect(timeouts).to.deep.equal([0, 40_000]);
  });

  it('end without an error also when a whole request takes longer than Node allows', async () => {
    await serve(30_000, (_, response) => response.end(), { connectionsCheckingInterval: 20, headersTimeout: 40, requestTimeout: 40 });
    expect(await replyTo('GET / HTTP/1.1\r\nHo')).to.equal('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');
    expect(errors).to.deep.equal([]);
  });

  it('end as in Node when the bytes are not a request', async () => {
    await serve(30_000, (_, response) => response.end());
    expect(await replyTo('no\r\n\r\n')).to.equal('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    expect(await replyTo(`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).to.equal(
      'HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n'
    );
    expect(errors.map((error) => (error as NodeJS.ErrnoException).code)).to.deep.equal(['HPE_INVALID_METHOD', 'HPE_HEADER_OVERFLOW']);
  });

  it('get nothing in the middle of a reply', async () => {
    await serve(30_000, (_, response) => {
      response.writeHead(200, { 'Content-Length': 20 });
      response.write('half');
    });
    const socket = await openSocket((server.address() as AddressInfo).port);
    socket.write(request);
    const [begun] = (await once(socket, 'data')) as [Buffer];
    socket.write('no\r\n\r\n');
    expect(begun.toString() + (await untilClosed(socket)).toString()).to.match(/\r\n\r\nhalf$/);
  });

  it('get the reply to their last request, whatever follows it', async () => {
    await serve(30_000, (_, response) => setImmediate(() => response.end('whole')));
    expect(await replyTo(`${requestBytes({ path: '/' }, true).toString()}no\r\n\r\n`)).to.match(/^HTTP\/1.1 200 OK\r\n[^]*whole$/);
    expect(errors).to.deep.equal([]);
    const broken = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nno\r\n';
    expect(await replyTo(broken)).to.match(/^HTTP\/1.1 400 /);
  });

  it('are left to the server again after closing', async () => {
    await serve(1_234, (_, response) => response.end());
    expect(server.keepAliveTimeout).to.equal(1_234);
    connections.close();
    expect(server.keepAliveTimeout).to.equal(5_000);
    expect(server.listenerCount('clientError')).to.equal(0);
    expect(server.listenerCount('connection')).to.equal(2);
  });
});
