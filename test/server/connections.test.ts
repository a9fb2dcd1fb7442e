import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect as connectTls, type TlsOptions } from 'node:tls';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { Connections } from '../../lib/server/http/connections';
import { makeCertificate } from '../payments/made-certificates';
import { openSocket, requestBytes, untilClosed } from '../support/client/http';
import { until } from '../support/expectations/until';
import type { AddressInfo, Socket } from 'node:net';

const CLOSING_MS = 200;
const certificate = makeCertificate({ commonName: 'node.example' });

describe('connections', () => {
  let server: Server;
  let connections: Connections;
  /** The errors that bcoin would log. */
  let errors: Error[];

  const serve = async (
    timeoutMs: number,
    answer: RequestListener,
    options: ServerOptions = {},
    tls?: TlsOptions,
    most = 100
  ): Promise<void> => {
    errors = [];
    const listener: RequestListener = (request, response) => {
      connections.requestCame(request.socket);
      answer(request, response);
    };
    server = tls === undefined ? createServer(options, listener) : createSecureServer(tls, listener);
    connections = new Connections(server, timeoutMs, CLOSING_MS, most);
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
  /** Closes the server. */
  const closed = (): Promise<unknown> => new Promise((resolve) => server.close(resolve));
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

  it('make room for new ones: the one whose last request is longest ago goes, unless it waits for a reply', async () => {
    const waiting: ServerResponse[] = [];
    await serve(
      30_000,
      ({ url }, response) => {
        if (url === '/later') waiting.push(response);
        else response.end('whole');
      },
      {},
      undefined,
      3
    );
    const { port } = server.address() as AddressInfo;
    const [busy, first, second] = [await openSocket(port), await openSocket(port), await openSocket(port)];
    busy.write(requestBytes({ path: '/later' }, false));
    await until(() => waiting.length === 1);
    for (const socket of [second, first]) {
      socket.write(request);
      await once(socket, 'data');
    }
    const gone = untilClosed(second);
    expect(await replyTo(requestBytes({ path: '/' }, true).toString())).to.match(/whole$/);
    await gone;
    waiting[0]?.end('at last');
    const [reply] = (await once(busy, 'data')) as [Buffer];
    expect(reply.toString()).to.match(/at last$/);
    expect(first.destroyed).to.equal(false);
    for (const socket of [busy, first]) socket.destroy();
  });

  it('make room while the body of their request has yet to come', async () => {
    let begun = 0;
    await serve(
      30_000,
      (request, response) => {
        begun++;
        request.resume().once('end', () => response.end('whole'));
      },
      {},
      undefined,
      2
    );
    const { port } = server.address() as AddressInfo;
    const unfinished = [await openSocket(port), await openSocket(port)];
    for (const socket of unfinished) socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc');
    await until(() => begun === 2);
    expect(await replyTo(requestBytes({ path: '/' }, true).toString())).to.match(/whole$/);
    expect([connections.madeRoom, connections.refused]).to.deep.equal([1, 0]);
    for (const socket of unfinished) socket.destroy();
  });

  it('are refused when replies are due on all that there may be', async () => {
    const waiting: ServerResponse[] = [];
    await serve(30_000, (_, response) => waiting.push(response), {}, undefined, 2);
    const { port } = server.address() as AddressInfo;
    const busy = [await openSocket(port), await openSocket(port)];
    for (const socket of busy) socket.write(request);
    await until(() => waiting.length === 2);
    expect(await replyTo(request)).to.equal('');
    for (const socket of busy) socket.destroy();
  });

  it('over TLS take no places before they are secure, and the oldest handshake ends', async () => {
    await serve(30_000, (_, response) => response.end('whole'), {}, { key: certificate.keyPem, cert: certificate.pem }, 200);
    const { port } = server.address() as AddressInfo;
    const silent: Socket[] = [];
    for (let i = 0; i < 203; i++) silent.push((await openSocket(port)).on('error', () => undefined).resume());
    await until(() => silent.filter(({ destroyed }) => destroyed).length === 3);
    expect(silent.slice(0, 3).every(({ destroyed }) => destroyed)).to.equal(true);
    const secure = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    secure.write(requestBytes({ path: '/' }, true));
    expect((await untilClosed(secure)).toString()).to.match(/whole$/);
    for (const socket of silent) socket.destroy();
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

  it('are not read while many of their requests wait for replies to earlier ones, and every request is answered in the end', async () => {
    const [all, mostWaiting] = [20_000, 8_000];
    let [came, answered, most] = [0, 0, 0];
    await serve(30_000, ({ socket }, response) => {
      most = Math.max(most, ++came - answered);
      connections.requestWaits(socket, response);
      setImmediate(() => {
        answered++;
        response.end();
      });
    });
    const socket = await openSocket((server.address() as AddressInfo).port);
    socket.write(Buffer.concat([...Array<Buffer>(all - 1).fill(Buffer.from(request)), requestBytes({ path: '/' }, true)]));
    const replies = (await untilClosed(socket)).toString().match(/HTTP\/1.1 200 OK/g);
    expect(replies).to.have.length(all);
    expect(most).to.be.below(mostWaiting);
  });

  it('are cut off, and read no further, while too many of their requests and those of others wait; few requests may always wait', async () => {
    const clients = new Set<Socket>();
    let came = 0;
    await serve(30_000, ({ socket, url }, response) => {
      came++;
      if (clients.has(socket)) connections.requestWaits(socket, response);
      clients.add(socket);
      if (url === '/few') response.end('few');
    });
    const { port } = server.address() as AddressInfo;
    const bytes = Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000));
    const hasty = await Promise.all(Array.from({ length: 8 }, () => openSocket(port)));
    const ended = Promise.race(hasty.map(untilClosed));
    for (const socket of hasty) socket.write(bytes);
    await ended;
    expect(came).to.be.below(10_000);
    const few = await openSocket(port);
    few.write(requestBytes({ path: '/few' }, false).toString().repeat(5) + requestBytes({ path: '/few' }, true).toString());
    expect((await untilClosed(few)).toString().match(/few/g)).to.have.length(6);
    for (const socket of hasty) socket.destroy();
  });

  it('end without a stack for each request that waits, which takes longer than all else', async () => {
    const waiting: ServerResponse[] = [];
    const stacks: (string | undefined)[] = [];
    await serve(30_000, (incoming, response) => {
      if (waiting.length > 0) connections.requestWaits(incoming.socket, response);
      incoming.on('error', ({ stack }) => stacks.push(stack));
      waiting.push(response);
    });
    const client = await openSocket((server.address() as AddressInfo).port);
    client.write(request.repeat(100));
    await until(() => waiting.length === 100);
    client.destroy();
    await until(() => stacks.length === 100);
    expect(stacks.filter((stack) => stack?.includes('    at ') !== false)).to.deep.equal([]);
    expect(new Error('later').stack).to.include('    at ');
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

  it('are cut off at once when the server closes and no reply is to come, even over TLS', async () => {
    for (const options of [undefined, { key: certificate.keyPem, cert: certificate.pem }]) {
      await serve(30_000, (_, response) => response.end('whole'), {}, options);
      const { port } = server.address() as AddressInfo;
      const connect = async (): Promise<Socket> => {
        const socket = options === undefined ? await openSocket(port) : connectTls({ port, rejectUnauthorized: false });
        if (options !== undefined) await once(socket, 'secureConnect');
        return socket;
      };
      const sockets = await Promise.all([connect(), connect(), connect()]);
      sockets[1].write('GET / HTTP/1.1\r\nHo');
      sockets[2].write(request.replace('Connection: close\r\n', ''));
      await once(sockets[2], 'data');
      const ended = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
      await Promise.all([ended, closed()]);
    }
  });

  it('get to read a reply that is being made, and no more than the given time for it', async () => {
    const responses: ServerResponse[] = [];
    await serve(30_000, (_, response) => responses.push(response));
    const [reply, never] = [replyTo(request), replyTo(request)];
    const unfinished = replyTo('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc');
    await until(() => responses.length === 3);
    connections.closing$.subscribe(() => setImmediate(() => responses[0]?.end('whole')));
    await closed();
    expect(await reply).to.match(/whole$/);
    expect([await never, await unfinished]).to.deep.equal(['', '']);
  });

  it('end with the server during a handshake of TLS', async () => {
    await serve(30_000, () => undefined, {}, { key: certificate.keyPem, cert: certificate.pem });
    const socket = await openSocket((server.address() as AddressInfo).port);
    await Promise.all([once(socket.resume(), 'close'), closed()]);
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
