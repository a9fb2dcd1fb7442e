import { once } from 'node:events';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { countConnections, openSocket, requestBytes, untilClosed } from '../support/client/http';
import { MountedServer } from './mounted-server';
import { until } from '../support/expectations/until';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Handler } from '../../lib/server/http/mount';

describe('the mount when asked for another protocol', () => {
  let served: MountedServer;
  let server: Server;
  const upgrade = (path: string, protocol = 'h2c', more = '', method = 'GET'): string =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\n${more}\r\n`;
  const get = (path: string): string => requestBytes({ path }, false).toString();
  const last = requestBytes({ path: '/rest/last' }, true).toString();
  const send = async (bytes: string): Promise<Socket> => {
    const socket = await openSocket(served.port);
    socket.on('error', () => undefined);
    socket.write(bytes, 'latin1');
    return socket;
  };
  /** Everything that the server answers to the bytes until it closes. */
  const replyTo = async (bytes: string): Promise<string> => (await untilClosed(await send(bytes))).toString();
  /** Resolves when all segments have arrived. */
  let sent: Promise<void>;
  /** Everything that the server answers to bytes that come in several segments, until it closes or the client has waited for a reply. */
  const replyToSegments = async (segments: readonly string[]): Promise<string> => {
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const socket = await openSocket(served.port);
    const [ofServer] = await connected;
    const replies = untilClosed(socket);
    sent = (async () => {
      let bytes = 0;
      for (const segment of segments) {
        if (!socket.writable) return;
        socket.write(segment, 'latin1');
        bytes += segment.length;
        await until(() => ofServer.destroyed || ofServer.bytesRead === bytes);
      }
    })();
    return (await replies).toString();
  };
  /** The bodies of replies: each is `<method> <path> <body>;`. */
  const bodies = (replies: string): string[] =>
    replies
      .split('\r\n')
      .filter((line) => line.includes(';'))
      .flatMap((line) => line.replace(/HTTP.*/, '').split(';'))
      .filter((text) => text !== '');
  const switching = (_: IncomingMessage, socket: Duplex): unknown => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  const echo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts = (await request.toArray()) as Buffer[];
    response.end(`${request.method ?? ''} ${request.url ?? ''} ${Buffer.concat(parts).toString()};`);
  };
  const theirs: RequestListener = (request, response) => void echo(request, response);
  /** Answers paths with `later` in them only when it is told to. */
  const held: (() => void)[] = [];
  const patiently: Handler = async (request, response) => {
    if (request.url?.includes('later') === true) await new Promise<void>((resolve) => held.push(resolve));
    await echo(request, response);
  };

  beforeEach(async () => {
    held.length = 0;
    served = new MountedServer();
    ({ server } = served);
    server.on('upgrade', switching);
    server.on('request', theirs);
    await served.listen();
  });
  afterEach(() => {
    served.close();
  });

  it('answers in HTTP under its prefix, and leaves the other paths', async () => {
    served.mount(echo);
    for (const protocol of ['h2c', 'websocket', 'TLS/1.2'])
      expect(bodies(await replyTo(upgrade('/rest/tx', protocol) + last)), protocol).to.deep.equal(['GET /rest/tx ', 'GET /rest/last ']);
    expect(await replyTo(upgrade('/socket.io', 'websocket'))).to.match(/^HTTP\/1.1 101 /);
  });

  it('cuts off a client that sends many requests without waiting for replies', async () => {
    served.mount(echo);
    const [few, many] = [50, 20_000];
    expect(bodies(await replyTo(upgrade('/rest/x').repeat(few) + last))).to.have.length(few + 1);
    expect(bodies(await replyTo(upgrade('/rest/x').repeat(many) + last))).to.have.length.below(many / 2);
  });

  it('keeps the headers, and the connection', async () => {
    const seen: string[][] = [];
    served.mount((request, response) => {
      seen.push(request.rawHeaders);
      return echo(request, response);
    });
    const socket = await send(upgrade('/rest/tx', 'h2c', 'HTTP2-Settings: AAA\r\nX:  caf\u00e9 \r\nx: \r\n'));
    await once(socket, 'data');
    socket.write(last);
    expect(bodies((await untilClosed(socket)).toString())).to.deep.equal(['GET /rest/last ']);
    expect(seen[0]).to.deep.equal([
      'Host',
      'x',
      'Connection',
      'Upgrade, HTTP2-Settings',
      'HTTP2-Settings',
      'AAA',
      'X',
      'caf\u00e9',
      'x',
      ''
    ]);
  });

  it('answers in order, with any requests before and after it', async () => {
    served.mount(patiently);
    const socket = await send(
      [
        get('/rest/later/1'),
        get('/2'),
        get('/rest/later/3'),
        upgrade('/rest/4'),
        get('/rest/later/5'),
        upgrade('/rest/6'),
        upgrade('/rest/later/7'),
        get('/8'),
        last
      ].join('')
    );
    const replies = untilClosed(socket);
    await until(() => held.length === 2);
    // In reverse order.
    held
      .splice(0)
      .reverse()
      .forEach((answer) => {
        answer();
      });
    for (let i = 0; i < 2; i++) {
      await until(() => held.length === 1);
      held.pop()?.();
    }
    expect(bodies((await replies).toString())).to.deep.equal([
      'GET /rest/later/1 ',
      'GET /2 ',
      'GET /rest/later/3 ',
      'GET /rest/4 ',
      'GET /rest/later/5 ',
      'GET /rest/6 ',
      'GET /rest/later/7 ',
      'GET /8 ',
      'GET /rest/last '
    ]);
  });

  it('reads bodies, whole or in parts, and answers what follows them or ends the connection', async () => {
    served.mount(echo);
    const post = upgrade('/rest/1', 'h2c', 'Content-Length: 6\r\n', 'POST');
    const put = upgrade('/rest/1', 'h2c', 'Transfer-Encoding: chunked\r\n', 'PUT');
    const segments = [
      [`${post}abcdef${last}`],
      [`${post}abcdef`, last],
      [post, 'abcdef', last],
      [`${post}abc`, `def${last}`],
      [`${put}3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n${last}`],
      [put, '6\r\nabc', `def\r\n0\r\n\r\n${last}`]
    ];
    for (const parts of segments) {
      const replies = await replyToSegments(parts);
      const [first, ...others] = bodies(replies);
      expect(first, parts.join('|')).to.match(/^(POST|PUT) \/rest\/1 abcdef$/);
      if (replies.includes('Connection: close\r\n') && others.length === 0) continue;
      expect(others, parts.join('|')).to.deep.equal(['GET /rest/last ']);
    }
  });

  it('reads bodies behind other requests', async () => {
    served.mount(patiently);
    const socket = await send(get('/rest/later/1') + upgrade('/rest/2', 'h2c', 'Content-Length: 6\r\n', 'POST') + 'abc');
    const replies = untilClosed(socket);
    await until(() => held.length === 1);
    socket.write('def');
    held.pop()?.();
    socket.end();
    expect(bodies((await replies).toString())).to.deep.equal(['GET /rest/later/1 ', 'POST /rest/2 abcdef']);
  });

  it('takes no part of a body for a request', async () => {
    const seen: (string | undefined)[] = [];
    served.mount((request, response) => {
      seen.push(request.url);
      return patiently(request, response);
    });
    const inner = get('/rest/smuggled');
    const replies = replyToSegments([
      `${upgrade('/rest/later/1', 'h2c', 'Content-Length: 6\r\n', 'POST')}abc`,
      `defPOST /rest/2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${inner.length}\r\n\r\n`,
      inner
    ]);
    await until(() => held.length === 1);
    await sent;
    held.pop()?.();
    expect(bodies(await replies)[0]).to.equal('POST /rest/later/1 abcdef');
    expect(seen).to.not.include('/rest/smuggled');
  });

  it('answers a whole packet of such requests, and leaves nothing on the connection', async () => {
    served.mount(echo);
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const replies = replyTo(upgrade('/rest/tx').repeat(300) + upgrade('/rest/end') + get('/rest/open'));
    const [socket] = await connected;
    const before = socket.listenerCount('error');
    await new Promise<void>((resolve) =>
      server.on('request', ({ url }, response) => {
        if (url === '/rest/open') response.once('finish', resolve);
      })
    );
    expect(socket.listenerCount('error')).to.equal(before);
    expect(socket.listenerCount('timeout')).to.equal(1);
    socket.end();
    expect(bodies(await replies)).to.have.length(302);
  });

  it('tolerates clients that leave, with any requests pending', async () => {
    served.mount(patiently);
    const requests = [
      upgrade('/rest/later/1'),
      get('/rest/later/1') + upgrade('/rest/2'),
      get('/rest/later/1') + upgrade('/rest/2', 'h2c', 'Content-Length: 9\r\n', 'POST') + 'abc'
    ];
    for (const [i, request] of requests.entries()) {
      for (const leave of ['resetAndDestroy', 'destroy', 'end'] as const) {
        const socket = await send(request);
        await until(() => held.length === 1);
        socket.resume();
        socket[leave]();
        if (leave !== 'end' && i === 0) await until(async () => (await countConnections(server)) === 0);
        held.pop()?.();
        await until(async () => (await countConnections(server)) === 0);
      }
    }
    expect(bodies(await replyTo(last))).to.deep.equal(['GET /rest/last ']);
  });

  it('cuts off a client that does not read the replies before the request', async () => {
    served.mount((request, response) => {
      response.end(Buffer.alloc(20_000_000));
      request.socket.setTimeout(50);
      return Promise.resolve();
    });
    for (const bytes of [upgrade('/rest/tx'), get('/rest/tx') + upgrade('/rest/tx')]) {
      const connected = once(server, 'connection') as Promise<[Socket]>;
      const socket = await send(bytes);
      const [ofServer] = await connected;
      const gone = new Promise((resolve) => ofServer.once('close', resolve));
      socket.pause();
      await gone;
      socket.destroy();
    }
  });

  it('closes connections on which a tunnel is asked for', async () => {
    served.mount(patiently);
    expect(await replyTo('CONNECT /rest/tx HTTP/1.1\r\nHost: x\r\n\r\n')).to.equal('');
    expect(await replyTo(get('/rest/later') + 'CONNECT /rest/tx HTTP/1.1\r\nHost: x\r\n\r\n')).to.equal('');
    held.pop()?.();
    expect(bodies(await replyTo(last))).to.deep.equal(['GET /rest/last ']);
  });

  it('loses nothing either when there are no other listeners', async () => {
    server.removeAllListeners('upgrade');
    served.mount(echo);
    expect(bodies(await replyTo(upgrade('/rest/tx') + upgrade('/tx') + last))).to.deep.equal([
      'GET /rest/tx ',
      'GET /tx ',
      'GET /rest/last '
    ]);
  });

  describe('for which the other listeners ask their clients for a key', () => {
    const KEY = 'the key';
    const LIMIT = 1_024;
    let known: Set<Duplex>;
    /** What the listeners got from each client. */
    let got: string[];

    beforeEach(() => {
      known = new Set();
      got = [];
      server.removeAllListeners('upgrade');
      server.on('upgrade', (_, socket, head) => {
        const at = got.push(head.toString()) - 1;
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
        socket.on('data', (chunk: Buffer) => {
          got[at] = `${got[at] ?? ''}${chunk.toString()}`;
          if (got[at] === KEY) known.add(socket);
          socket.write('.');
        });
        socket.on('end', () => socket.end());
      });
      served.mount(echo, '/rest', (socket) => known.has(socket));
    });

    /** A client whose first bytes were answered. */
    const connectedWith = async (first: string): Promise<Socket> => {
      const socket = await send(upgrade('/socket.io', 'websocket'));
      await once(socket, 'data');
      socket.write(first);
      await once(socket, 'data');
      return socket;
    };

    it('gives them everything from a client that has shown it', async () => {
      const long = 'x'.repeat(1_000_000);
      const socket = await connectedWith(KEY);
      socket.resume().end(long);
      await once(socket, 'close');
      expect(got).to.deep.equal([KEY + long]);
    });

    it('disconnects a client that has not, before they get more than a key', async () => {
      const socket = await connectedWith('a'.repeat(LIMIT));
      socket.write('b');
      await untilClosed(socket);
      await untilClosed(await send(upgrade('/') + 'c'.repeat(LIMIT + 1)));
      expect(got).to.deep.equal(['a'.repeat(LIMIT)]);
    });

    it('counts it among the connections of HTTP, which make room for others, until it has', async () => {
      const socket = await connectedWith('a wrong key');
      expect(served.connections.size).to.equal(1);
      const other = await connectedWith(KEY);
      other.write('more');
      await once(other, 'data');
      expect(served.connections.size).to.equal(1);
      for (const one of [socket, other]) one.destroy();
    });
  });

  it('puts the other listeners back', async () => {
    served.mount(echo).close();
    expect(server.listeners('upgrade')).to.deep.equal([switching]);
    expect(await replyTo(upgrade('/rest/tx', 'websocket'))).to.match(/^HTTP\/1.1 101 /);
  });
});
