import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { Connections } from '../../lib/server/http/connections';
import { isUnder, Mount, pathOf, under, type Handler } from '../../lib/server/http/mount';
import { begunDuring } from '../support/begun-requests';
import { ask, countConnections, openSocket, requestBytes, untilClosed } from '../support/http';
import { MemoryLog } from '../support/memory-log';
import { until } from '../support/until';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

describe('isUnder', () => {
  it('takes /rest and what lies under it, with any query', () => {
    for (const path of ['/rest', '/rest/', '/rest/tx/ab', '/rest?', '/rest?a=/b', '/rest/../x'])
      expect(isUnder('/rest', path), path).to.equal(true);
  });

  it('leaves every other path', () => {
    for (const path of ['/', '', '/restful', '/REST/tx', '//rest/tx', '/tx/rest', '/rest.json', '*', 'http://host/rest/tx'])
      expect(isUnder('/rest', path), path).to.equal(false);
  });
});

describe('pathOf', () => {
  it('is the path of a target in absolute-form, with its query', () => {
    for (const [target, path] of [
      ['http://host/rest/tx', '/rest/tx'],
      ['https://user@host:8332/rest?a=http://b/c', '/rest?a=http://b/c'],
      ['HTTP://[::1]', '/'],
      ['http://host?a=/b', '/?a=/b'],
      ['http:///rest', '/rest']
    ] as const)
      expect(pathOf(target), target).to.equal(path);
  });

  it('is any other target as it came', () => {
    for (const target of ['/rest/tx', '//host/rest', '/http://host/rest', '*', 'host:80', 'ftp://host/rest', 'http:/rest'])
      expect(pathOf(target), target).to.equal(target);
  });
});

describe('the mount', () => {
  let server: Server;
  let connections: Connections;
  let log: MemoryLog;
  const saying =
    (text: string): RequestListener =>
    (_, response) =>
      response.end(text);
  const answering =
    (text: string): Handler =>
    (_, response) => {
      response.end(text);
      return Promise.resolve();
    };
  const mount = (
    handler: Handler = answering('ours'),
    prefix = '/rest',
    isAuthenticated: (socket: Socket) => boolean = () => false
  ): Mount => {
    const made = new Mount({ server, takes: under(prefix), handler, isAuthenticated, connections, logger: log });
    made.open();
    return made;
  };
  const listen = async (): Promise<void> => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  };
  const port = (): number => (server.address() as AddressInfo).port;
  const bodyOf = async (path: string): Promise<string> => (await ask(port(), { path })).body.toString();
  beforeEach(() => {
    server = createServer();
    connections = new Connections(server, 30_000, 1_000);
    connections.open();
    log = new MemoryLog();
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('takes its paths from listeners that were added before the server listens', async () => {
    mount();
    server.on('request', saying('theirs'));
    await listen();
    expect(await bodyOf('/rest/tx')).to.equal('ours');
    expect(await bodyOf('/tx')).to.equal('theirs');
  });

  it('shows its handler the path of a target in absolute-form, and leaves other targets as they are', async () => {
    const urls: (string | undefined)[] = [];
    mount((request, response) => {
      urls.push(request.url);
      response.end();
      return Promise.resolve();
    });
    server.on('request', (request, response) => {
      urls.push(request.url);
      response.end();
    });
    await listen();
    for (const path of ['http://host/rest/tx?a=b', 'http://host/tx']) await bodyOf(path);
    expect(urls).to.deep.equal(['/rest/tx?a=b', 'http://host/tx']);
  });

  it('takes its paths from a server that already listens', async () => {
    server.on('request', saying('theirs'));
    await listen();
    mount();
    expect(await bodyOf('/rest')).to.equal('ours');
    expect(await bodyOf('/')).to.equal('theirs');
  });

  it('shares a server with another mount', async () => {
    const mounts = [mount(), mount(answering('the shop'), '/pay')];
    server.on('request', saying('theirs'));
    await listen();
    expect(await Promise.all(['/rest/tx', '/pay/1', '/payments', '/'].map(bodyOf))).to.deep.equal(['ours', 'the shop', 'theirs', 'theirs']);
    for (const one of mounts.reverse()) one.close();
    expect(await bodyOf('/pay')).to.equal('theirs');
  });

  it('puts everything back', async () => {
    const theirs = saying('theirs');
    server.on('request', theirs);
    await listen();
    mount().close();
    expect(server.listeners('request')).to.deep.equal([theirs]);
    expect(server.listeners('upgrade')).to.deep.equal([]);
    expect(await bodyOf('/rest')).to.equal('theirs');
  });

  it('leaves a server alone that never listened', async () => {
    mount().close();
    server.on('request', saying('theirs'));
    await listen();
    expect(await bodyOf('/rest')).to.equal('theirs');
  });

  it('breaks off a connection whose request ends in an error, logs it, and continues', async () => {
    const broken: Handler[] = [
      () => {
        throw new TypeError('at once');
      },
      () => Promise.reject(new TypeError('later'))
    ];
    let handler: Handler = answering('ours');
    mount((request, response) => handler(request, response));
    await listen();
    for (handler of broken) {
      const socket = await openSocket(port());
      socket.write(requestBytes({ path: '/rest/tx' }, false));
      expect((await untilClosed(socket)).toString()).to.equal('');
    }
    expect(log.lines.map((line) => line.split('\n')[0])).to.deep.equal([
      'error request failed: TypeError: at once',
      'error request failed: TypeError: later'
    ]);
    handler = answering('ours');
    expect(await bodyOf('/rest')).to.equal('ours');
  });

  it('takes no more requests on a connection that has ended, on which Node would mix up the replies', async () => {
    const held: (() => void)[] = [];
    const answer = async ({ url }: IncomingMessage, response: ServerResponse): Promise<void> => {
      await (url === '/rest/later' ? new Promise<void>((resolve) => held.push(resolve)) : Promise.resolve());
      if (url === '/rest/ending') response.shouldKeepAlive = false;
      response.setHeader('Content-Length', 6);
      response.write('answer');
      response.end();
    };
    mount(answer);
    server.on('request', (request, response) => void answer(request, response));
    await listen();
    // Line ends between requests are skipped. With so many of them, the last request is read next, but not at once.
    const later = '\r\n'.repeat(40_000);
    for (const path of ['/rest', '/']) {
      const socket = await openSocket(port());
      // The connection ends after the first reply, with the second pending.
      const [ending, pending, next] = ['/rest/ending', '/rest/later', path].map((each) => requestBytes({ path: each }, false).toString());
      socket.write(`${ending}${pending}${later}${next}no\r\n\r\n`);
      expect((await untilClosed(socket)).toString()).to.match(/^HTTP\/1.1 200 OK\r\n[^]*answer$/);
    }
    for (const goOn of held) goOn();
    expect((await ask(port(), { path: '/rest' })).status).to.equal(200);
  });

  describe('with a thousand requests in one write', () => {
    const MANY = 1_000;
    const first = requestBytes({ path: '/rest/first' }, false);
    const written = (prefix: string): Buffer =>
      Buffer.concat([first, Buffer.from(`GET ${prefix}/x HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(MANY))]);

    for (const [prefix, whose] of Object.entries({ '/rest': 'ours', '': 'theirs' })) {
      it(`begins ${whose} some at a time, and not one client's before those of all others`, async () => {
        const begun: (string | undefined)[] = [];
        let [inTurn, most] = [0, 0];
        const begins = ({ url }: IncomingMessage, response: ServerResponse): void => {
          begun.push(url);
          if (inTurn++ === 0)
            setImmediate(() => {
              most = Math.max(most, inTurn);
              inTurn = 0;
            });
          if (url === '/rest/first') patient.write(requestBytes({ path: `${prefix}/patient` }, true));
          response.end();
        };
        mount((request, response) => {
          begins(request, response);
          return Promise.resolve();
        });
        server.on('request', begins);
        await listen();
        const [patient, hasty] = [await openSocket(port()), await openSocket(port())];
        const answered = untilClosed(patient);
        hasty.resume().write(written(prefix));
        await answered;
        await until(() => begun.length === MANY + 2);
        hasty.destroy();
        expect(begun.indexOf(`${prefix}/patient`)).to.be.below(MANY / 2);
        expect(most).to.be.below(MANY / 2);
      });
    }
  });

  it('reports every request, also those of other listeners and those that change the protocol', async () => {
    const told: Socket[] = [];
    new Mount({
      server,
      takes: under('/rest'),
      handler: answering('ours'),
      isAuthenticated: () => false,
      connections: { requestCame: (socket) => told.push(socket), requestWaits: () => undefined, upgraded: () => undefined },
      logger: log
    }).open();
    server.on('request', saying('theirs'));
    server.on('upgrade', (_, socket) => socket.end());
    await listen();
    await bodyOf('/rest');
    await bodyOf('/');
    const socket = await openSocket(port());
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await untilClosed(socket);
    expect(new Set(told)).to.have.property('size', 3);
  });

  it('refuses requests with more headers than Node shows, since one of the others may say where the body ends', async () => {
    const seen: (string | undefined)[] = [];
    const upgrade = (_: IncomingMessage, socket: Duplex): unknown => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    mount(({ url }, response) => {
      seen.push(url);
      response.end('ours');
      return Promise.resolve();
    });
    server.on('request', saying('theirs'));
    server.on('upgrade', upgrade);
    await listen();
    const replyTo = async (path: string, headers: string, count: number): Promise<string> => {
      const socket = await openSocket(port());
      const smuggled = requestBytes({ path: '/rest/smuggled' }, false).toString();
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}${'a:\r\n'.repeat(count)}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`
      );
      return (await untilClosed(socket)).toString();
    };
    for (const path of ['/rest/tx', '/tx'])
      for (const headers of ['', 'Connection: Upgrade\r\nUpgrade: h2c\r\n', 'Connection: close\r\n'])
        expect(await replyTo(path, headers, 1_100), path + headers).to.equal(
          'HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n'
        );
    expect(seen).to.deep.equal([]);
    expect(await replyTo('/rest/tx', 'Connection: close\r\n', 900)).to.match(/^HTTP\/1.1 200 OK\r\n[^]*ours$/);
    expect(seen).to.deep.equal(['/rest/tx']);
  });

  it('refuses a request without a Host, and reads none of those behind it: Node would answer each, and nobody would see them', async () => {
    mount();
    server.on('request', saying('theirs'));
    await listen();
    for (const path of ['/rest', '/']) {
      const socket = await openSocket(port());
      socket.on('error', () => undefined);
      const begun = await begunDuring(port(), async () => {
        socket.write(`GET ${path} HTTP/1.1\r\n\r\n`.repeat(1_000));
        expect((await untilClosed(socket)).toString()).to.equal('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
      });
      expect(begun, path).to.equal(1);
    }
    const old = await openSocket(port());
    old.write('GET /rest HTTP/1.0\r\n\r\n');
    expect((await untilClosed(old)).toString()).to.match(/^HTTP\/1.1 200 OK\r\n[^]*ours$/);
  });

  it('ignores what a request expects, unless it is to continue: Node would refuse it, and nobody would see it', async () => {
    mount();
    server.on('request', saying('theirs'));
    await listen();
    for (const [path, body] of [
      ['/rest', 'ours'],
      ['/', 'theirs']
    ] as const)
      expect((await ask(port(), { path, headers: { Expect: 'something' } })).body.toString()).to.equal(body);
  });

  it('ends a connection whose body nobody reads, once it has replied', async () => {
    mount();
    server.on('request', saying('theirs'));
    await listen();
    for (const path of ['/rest', '/'])
      for (const end of ['', '0\r\n\r\n']) {
        const socket = await openSocket(port());
        socket.on('error', () => undefined);
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(100)}${end}`);
        if (end !== '') socket.write(requestBytes({ path }, true));
        const text = (await untilClosed(socket)).toString();
        expect(text.match(/200 OK/g), path + end).to.have.length(end === '' ? 1 : 2);
      }
  });

  describe('when asked for another protocol', () => {
    const upgrade = (path: string, protocol = 'h2c', more = '', method = 'GET'): string =>
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\n${more}\r\n`;
    const get = (path: string): string => requestBytes({ path }, false).toString();
    const last = requestBytes({ path: '/rest/last' }, true).toString();
    const send = async (bytes: string): Promise<Socket> => {
      const socket = await openSocket(port());
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
      const socket = await openSocket(port());
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
      server.on('upgrade', switching);
      server.on('request', theirs);
      await listen();
    });

    it('answers in HTTP under its prefix, and leaves the other paths', async () => {
      mount(echo);
      for (const protocol of ['h2c', 'websocket', 'TLS/1.2'])
        expect(bodies(await replyTo(upgrade('/rest/tx', protocol) + last)), protocol).to.deep.equal(['GET /rest/tx ', 'GET /rest/last ']);
      expect(await replyTo(upgrade('/socket.io', 'websocket'))).to.match(/^HTTP\/1.1 101 /);
    });

    it('cuts off a client that sends many requests without waiting for replies', async () => {
      mount(echo);
      const [few, many] = [50, 20_000];
      expect(bodies(await replyTo(upgrade('/rest/x').repeat(few) + last))).to.have.length(few + 1);
      expect(bodies(await replyTo(upgrade('/rest/x').repeat(many) + last))).to.have.length.below(many / 2);
    });

    it('keeps the headers, and the connection', async () => {
      const seen: string[][] = [];
      mount((request, response) => {
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
      mount(patiently);
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
      mount(echo);
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
      mount(patiently);
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
      mount((request, response) => {
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
      mount(echo);
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
      mount(patiently);
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
      mount((request, response) => {
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
      mount(patiently);
      expect(await replyTo('CONNECT /rest/tx HTTP/1.1\r\nHost: x\r\n\r\n')).to.equal('');
      expect(await replyTo(get('/rest/later') + 'CONNECT /rest/tx HTTP/1.1\r\nHost: x\r\n\r\n')).to.equal('');
      held.pop()?.();
      expect(bodies(await replyTo(last))).to.deep.equal(['GET /rest/last ']);
    });

    it('loses nothing either when there are no other listeners', async () => {
      server.removeAllListeners('upgrade');
      mount(echo);
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
        mount(echo, '/rest', (socket) => known.has(socket));
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
        expect(connections.size).to.equal(1);
        const other = await connectedWith(KEY);
        other.write('more');
        await once(other, 'data');
        expect(connections.size).to.equal(1);
        for (const one of [socket, other]) one.destroy();
      });
    });

    it('puts the other listeners back', async () => {
      mount(echo).close();
      expect(server.listeners('upgrade')).to.deep.equal([switching]);
      expect(await replyTo(upgrade('/rest/tx', 'websocket'))).to.match(/^HTTP\/1.1 101 /);
    });
  });
});
