import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { isUnder, Mount, pathOf, under, type Handler } from '../../lib/server/http/mount';
import { begunDuring } from '../support/client/begun-requests';
import { ask, openSocket, requestBytes, untilClosed } from '../support/client/http';
import { answering, MountedServer, saying } from './mounted-server';
import { until } from '../support/expectations/until';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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
  let served: MountedServer;
  let server: Server;
  beforeEach(() => {
    served = new MountedServer();
    ({ server } = served);
  });
  afterEach(() => {
    served.close();
  });

  it('takes its paths from listeners that were added before the server listens', async () => {
    served.mount();
    server.on('request', saying('theirs'));
    await served.listen();
    expect(await served.bodyOf('/rest/tx')).to.equal('ours');
    expect(await served.bodyOf('/tx')).to.equal('theirs');
  });

  it('shows its handler the path of a target in absolute-form, and leaves other targets as they are', async () => {
    const urls: (string | undefined)[] = [];
    served.mount((request, response) => {
      urls.push(request.url);
      response.end();
      return Promise.resolve();
    });
    server.on('request', (request, response) => {
      urls.push(request.url);
      response.end();
    });
    await served.listen();
    for (const path of ['http://host/rest/tx?a=b', 'http://host/tx']) await served.bodyOf(path);
    expect(urls).to.deep.equal(['/rest/tx?a=b', 'http://host/tx']);
  });

  it('takes its paths from a server that already listens', async () => {
    server.on('request', saying('theirs'));
    await served.listen();
    served.mount();
    expect(await served.bodyOf('/rest')).to.equal('ours');
    expect(await served.bodyOf('/')).to.equal('theirs');
  });

  it('shares a server with another mount', async () => {
    const mounts = [served.mount(), served.mount(answering('the shop'), '/pay')];
    server.on('request', saying('theirs'));
    await served.listen();
    expect(await Promise.all(['/rest/tx', '/pay/1', '/payments', '/'].map((path) => served.bodyOf(path)))).to.deep.equal([
      'ours',
      'the shop',
      'theirs',
      'theirs'
    ]);
    for (const one of mounts.reverse()) one.close();
    expect(await served.bodyOf('/pay')).to.equal('theirs');
  });

  it('puts everything back', async () => {
    const theirs = saying('theirs');
    server.on('request', theirs);
    await served.listen();
    served.mount().close();
    expect(server.listeners('request')).to.deep.equal([theirs]);
    expect(server.listeners('upgrade')).to.deep.equal([]);
    expect(await served.bodyOf('/rest')).to.equal('theirs');
  });

  it('leaves a server alone that never listened', async () => {
    served.mount().close();
    server.on('request', saying('theirs'));
    await served.listen();
    expect(await served.bodyOf('/rest')).to.equal('theirs');
  });

  it('breaks off a connection whose request ends in an error, logs it, and continues', async () => {
    const broken: Handler[] = [
      () => {
        throw new TypeError('at once');
      },
      () => Promise.reject(new TypeError('later'))
    ];
    let handler: Handler = answering('ours');
    served.mount((request, response) => handler(request, response));
    await served.listen();
    for (handler of broken) {
      const socket = await openSocket(served.port);
      socket.write(requestBytes({ path: '/rest/tx' }, false));
      expect((await untilClosed(socket)).toString()).to.equal('');
    }
    expect(served.log.lines.map((line) => line.split('\n')[0])).to.deep.equal([
      'error request failed: TypeError: at once',
      'error request failed: TypeError: later'
    ]);
    handler = answering('ours');
    expect(await served.bodyOf('/rest')).to.equal('ours');
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
    served.mount(answer);
    server.on('request', (request, response) => void answer(request, response));
    await served.listen();
    // Line ends between requests are skipped. With so many of them, the last request is read next, but not at once.
    const later = '\r\n'.repeat(40_000);
    for (const path of ['/rest', '/']) {
      const socket = await openSocket(served.port);
      // The connection ends after the first reply, with the second pending.
      const [ending, pending, next] = ['/rest/ending', '/rest/later', path].map((each) => requestBytes({ path: each }, false).toString());
      socket.write(`${ending}${pending}${later}${next}no\r\n\r\n`);
      expect((await untilClosed(socket)).toString()).to.match(/^HTTP\/1.1 200 OK\r\n[^]*answer$/);
    }
    for (const goOn of held) goOn();
    expect((await ask(served.port, { path: '/rest' })).status).to.equal(200);
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
        served.mount((request, response) => {
          begins(request, response);
          return Promise.resolve();
        });
        server.on('request', begins);
        await served.listen();
        const [patient, hasty] = [await openSocket(served.port), await openSocket(served.port)];
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
      logger: served.log
    }).open();
    server.on('request', saying('theirs'));
    server.on('upgrade', (_, socket) => socket.end());
    await served.listen();
    await served.bodyOf('/rest');
    await served.bodyOf('/');
    const socket = await openSocket(served.port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await untilClosed(socket);
    expect(new Set(told)).to.have.property('size', 3);
  });

  it('refuses requests with more headers than Node shows, since one of the others may say where the body ends', async () => {
    const seen: (string | undefined)[] = [];
    const upgrade = (_: IncomingMessage, socket: Duplex): unknown => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    served.mount(({ url }, response) => {
      seen.push(url);
      response.end('ours');
      return Promise.resolve();
    });
    server.on('request', saying('theirs'));
    server.on('upgrade', upgrade);
    await served.listen();
    const replyTo = async (path: string, headers: string, count: number): Promise<string> => {
      const socket = await openSocket(served.port);
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
    served.mount();
    server.on('request', saying('theirs'));
    await served.listen();
    for (const path of ['/rest', '/']) {
      const socket = await openSocket(served.port);
      socket.on('error', () => undefined);
      const begun = await begunDuring(served.port, async () => {
        socket.write(`GET ${path} HTTP/1.1\r\n\r\n`.repeat(1_000));
        expect((await untilClosed(socket)).toString()).to.equal('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
      });
      expect(begun, path).to.equal(1);
    }
    const old = await openSocket(served.port);
    old.write('GET /rest HTTP/1.0\r\n\r\n');
    expect((await untilClosed(old)).toString()).to.match(/^HTTP\/1.1 200 OK\r\n[^]*ours$/);
  });

  it('ignores what a request expects, unless it is to continue: Node would refuse it, and nobody would see it', async () => {
    served.mount();
    server.on('request', saying('theirs'));
    await served.listen();
    for (const [path, body] of [
      ['/rest', 'ours'],
      ['/', 'theirs']
    ] as const)
      expect((await ask(served.port, { path, headers: { Expect: 'something' } })).body.toString()).to.equal(body);
  });

  it('ends a connection whose body nobody reads, once it has replied', async () => {
    served.mount();
    server.on('request', saying('theirs'));
    await served.listen();
    for (const path of ['/rest', '/'])
      for (const end of ['', '0\r\n\r\n']) {
        const socket = await openSocket(served.port);
        socket.on('error', () => undefined);
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(100)}${end}`);
        if (end !== '') socket.write(requestBytes({ path }, true));
        const text = (await untilClosed(socket)).toString();
        expect(text.match(/200 OK/g), path + end).to.have.length(end === '' ? 1 : 2);
      }
  });
});
