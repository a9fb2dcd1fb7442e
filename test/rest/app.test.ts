import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { IndexUnavailableError, NotYetKnownError } from '../../lib/index/errors';
import { ChainMovedError } from '../../lib/node/errors';
import { jsonReply } from '../../lib/rest/format';
import { methodNotAllowed, HttpError, unavailable } from '../../lib/server/errors';
import { Responses } from '../../lib/server/http/responses';
import { WorkQueue } from '../../lib/server/work/work-queue';
import { serveRoutes } from '../support/client/endpoints';
import { ask, askInOneWrite, openSocket, requestBytes, untilClosed } from '../support/client/http';
import { MemoryLog } from '../support/process/memory-log';
import { until } from '../support/expectations/until';
import type { Socket } from 'node:net';
import type { Endpoint, RestRequest } from '../../lib/rest/endpoint';
import type { Reply } from '../../lib/server/http/reply';

describe('the application', () => {
  let server: Server;
  let log: MemoryLog;
  let isOpen: boolean;
  let port: number;
  let endpoint: Endpoint;

  beforeEach(async () => {
    log = new MemoryLog();
    isOpen = true;
    const gate = {
      isRehearsing: false,
      requireOpen: () => {
        if (!isOpen) throw unavailable('loading index');
      },
      requireReady: () => undefined,
      status: () => 'loading index'
    };
    const routes = [{ prefix: '/rest/it', endpoint: (request: RestRequest) => endpoint(request), readsBody: true as const }];
    server = createServer();
    const responses = new Responses(server, { mostBytes: 1_000_000, readRate: { bytesPerSecond: 1, windowMs: 30_000 } });
    port = await serveRoutes(server, routes, { gate, queue: new WorkQueue(4, 16), responses, logger: log });
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('answers only the rehearsal until it is over', async () => {
    const own = new WeakSet<Socket>();
    const other = createServer();
    const routes = [{ prefix: '/rest/it', endpoint: () => Promise.resolve(jsonReply(Buffer.from('{}\n'))) }];
    const gate = { isRehearsing: true, requireOpen: () => undefined, requireReady: () => undefined, status: () => 'warming up' };
    const otherPort = await serveRoutes(other, routes, { gate, own });
    try {
      const { status, body } = await ask(otherPort, { path: '/rest/it' });
      expect([status, body.toString()]).to.deep.equal([503, 'Service temporarily unavailable: warming up\r\n']);
      other.prependListener('connection', (socket: Socket) => own.add(socket));
      expect((await ask(otherPort, { path: '/rest/it' })).status).to.equal(200);
    } finally {
      other.closeAllConnections();
      other.close();
    }
  });

  it('sends only the headers of the REST interface and of HTTP', async () => {
    endpoint = () => Promise.resolve(jsonReply(Buffer.from('{}\n')));
    const { headers, body, status } = await ask(port, { path: '/rest/it' });
    expect(status).to.equal(200);
    expect(headers).to.have.all.keys('x-rest-tip', 'content-type', 'content-length', 'date', 'connection');
    expect(headers).to.include({ 'content-type': 'application/json', 'content-length': '3' });
    expect(body.toString()).to.equal('{}\n');
  });

  it('hands the raw path after the prefix, and the body, to the endpoint', async () => {
    endpoint = ({ path, body }) => Promise.resolve(jsonReply(Buffer.from(`${path} ${body.toString()}`)));
    const { body } = await ask(port, { method: 'POST', path: '/rest/it%41//x?y=1#z', body: Buffer.from('body') });
    expect(body.toString()).to.equal('%41//x?y=1#z body');
  });

  it('writes errors as text with CRLF, and text from the client unchanged', async () => {
    endpoint = ({ path }) => {
      throw new HttpError(400, `Invalid hash: ${path}`);
    };
    const { status, contentType, body } = await ask(port, { path: '/rest/it%C3"<' });
    expect({ status, contentType, body: body.toString() }).to.deep.equal({
      status: 400,
      contentType: 'text/plain',
      body: 'Invalid hash: %C3"<\r\n'
    });
  });

  it('writes errors that come later in the same way', async () => {
    endpoint = () => Promise.reject(new HttpError(404, 'x not found'));
    expect((await ask(port, { path: '/rest/it' })).body.toString()).to.equal('x not found\r\n');
  });

  it('sends errors without a message without a body and a content type', async () => {
    endpoint = () => {
      throw methodNotAllowed();
    };
    const { status, headers } = await ask(port, { path: '/rest/it' });
    expect(status).to.equal(405);
    expect(headers).to.include({ 'content-length': '0' }).and.not.have.property('content-type');
  });

  it('answers unexpected errors with 500, and logs them', async () => {
    for (const broken of [
      (): never => {
        throw new TypeError('a bug');
      },
      (): Promise<never> => Promise.reject(new TypeError('a bug'))
    ]) {
      endpoint = broken;
      const { status, contentType, body } = await ask(port, { path: '/rest/it' });
      expect({ status, contentType }).to.deep.equal({ status: 500, contentType: 'text/plain' });
      expect(body.toString())
        .to.match(/^Internal error.*\r\n$/)
        .and.not.include('a bug');
    }
    expect(log.lines).to.have.length(2);
    for (const line of log.lines) expect(line).to.match(/^error request failed: TypeError: a bug/);
  });

  it('answers with 503 when the index becomes unavailable during a request', async () => {
    endpoint = () => {
      throw new IndexUnavailableError('the index is closed');
    };
    const { status, body } = await ask(port, { path: '/rest/it' });
    expect({ status, body: body.toString() }).to.deep.equal({ status: 503, body: 'Service temporarily unavailable: loading index\r\n' });
    expect(log.lines).to.deep.equal([]);
  });

  it('answers with 503 if the index does not know yet, and if the chain moves during a request', async () => {
    const cases: [error: Error, body: string][] = [
      [new NotYetKnownError({ height: 30, from: 80 }), 'transaction index is being built: 62.9% (height 30)'],
      [new ChainMovedError('gone'), 'the chain is moving']
    ];
    for (const [error, text] of cases) {
      endpoint = () => Promise.reject(error);
      const { status, body } = await ask(port, { path: '/rest/it' });
      expect({ status, body: body.toString() }).to.deep.equal({ status: 503, body: `Service temporarily unavailable: ${text}\r\n` });
    }
    expect(log.lines).to.deep.equal([]);
  });

  it('refuses none of many small requests in one write', async () => {
    endpoint = ({ path }) => Promise.resolve(jsonReply(Buffer.from(path)));
    const paths = Array.from({ length: 200 }, (_, i) => `/rest/it${i}`);
    const replies = await askInOneWrite(
      port,
      paths.map((path) => ({ path }))
    );
    expect(replies.map(({ body }) => `/rest/it${body.toString()}`)).to.deep.equal(paths);
  });

  it('does not call an endpoint while the gate is closed, and knows which paths have no endpoint', async () => {
    isOpen = false;
    endpoint = () => {
      throw new Error('asked');
    };
    expect((await ask(port, { path: '/rest/it' })).status).to.equal(503);
    expect((await ask(port, { path: '/rest/other' })).status).to.equal(404);
  });

  it('checks the gate again when the body has come, and when the request gets a slot', async () => {
    const answers: ((reply: Reply) => void)[] = [];
    endpoint = () => new Promise((resolve) => answers.push(resolve));
    const slots = Array.from({ length: 4 }, () => ask(port, { path: '/rest/it' }));
    await until(() => answers.length === 4);
    const asked = once(server, 'request');
    const waits = ask(port, { path: '/rest/it' });
    await asked;
    const slow = await openSocket(port);
    const sends = once(server, 'request');
    slow.write('POST /rest/it HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\na');
    await sends;
    isOpen = false;
    endpoint = () => {
      throw new Error('asked');
    };
    for (const answer of answers) answer(jsonReply(Buffer.from('[]\n')));
    expect((await waits).status).to.equal(503);
    slow.write('b');
    expect((await untilClosed(slow)).toString()).to.match(/^HTTP\/1.1 503 /);
    expect((await Promise.all(slots)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
  });

  it('answers GET, POST and PUT alike, and leaves the body out for HEAD', async () => {
    endpoint = () => Promise.resolve(jsonReply(Buffer.from('[1]\n')));
    const methods = ['GET', 'POST', 'PUT', 'HEAD', 'GET'];
    const replies = await askInOneWrite(
      port,
      methods.map((method) => ({ method, path: '/rest/it' }))
    );
    expect(
      replies.map(({ status, headers, body }) => [status, headers['content-type'], headers['content-length'], body.toString()])
    ).to.deep.equal(methods.map((method) => [200, 'application/json', '4', method === 'HEAD' ? '' : '[1]\n']));
  });

  it('refuses other methods without a body, for every path and state of the gate', async () => {
    for (const path of ['/rest/it', '/rest/other']) {
      for (const open of [true, false]) {
        isOpen = open;
        const refused = await ask(port, { method: 'DELETE', path });
        expect(refused).to.deep.include({ status: 405, contentType: null, body: Buffer.alloc(0) });
        expect(refused.headers).to.include({ allow: 'GET, HEAD, POST, PUT' });
        for (const method of ['OPTIONS', 'PATCH', 'TRACE', 'PROPFIND'])
          expect(await ask(port, { method, path }), method).to.deep.include({ status: 501, contentType: null, body: Buffer.alloc(0) });
      }
    }
  });

  it('keeps connections open, and takes unread bodies off them', async () => {
    endpoint = () => {
      throw new HttpError(400, 'no');
    };
    isOpen = false;
    const body = Buffer.alloc(300_000);
    const replies = await askInOneWrite(port, [
      { method: 'POST', path: '/rest/other', body },
      { method: 'POST', path: '/rest/it', body },
      { path: '/rest/other' }
    ]);
    expect(replies.map(({ status }) => status)).to.deep.equal([404, 503, 404]);
  });

  it('ends connections with their replies while the server closes, so that busy clients do not hold it up', async () => {
    const answers: ((reply: Reply) => void)[] = [];
    endpoint = () => new Promise((resolve) => answers.push(resolve));
    const socket = await openSocket(port);
    const all = untilClosed(socket);
    socket.write(requestBytes({ path: '/rest/it' }, false));
    await until(() => answers.length === 1);
    const closed = new Promise((resolve) => server.close(resolve));
    for (const answer of answers) answer(jsonReply(Buffer.from('[]\n')));
    expect((await all).toString()).to.match(/^HTTP\/1.1 200 OK\r\n[^]*Connection: close\r\n\r\n\[\]\n$/);
    await closed;
  });

  it('does not work for clients that left, nor on further requests that they sent', async () => {
    const requests: RestRequest[] = [];
    const left: ((error: Error) => void)[] = [];
    endpoint = (request) =>
      new Promise((_, reject) => {
        requests.push(request);
        left.push(reject);
      });
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const socket = await openSocket(port);
    const [ofServer] = await connected;
    socket.write(Buffer.concat([requestBytes({ path: '/rest/it' }, false), requestBytes({ path: '/rest/it' }, false)]));
    await until(() => requests.length === 2);
    expect(requests.map(({ isGone }) => isGone)).to.deep.equal([false, false]);
    const gone = new Promise((resolve) => ofServer.once('close', resolve));
    socket.destroy();
    await gone;
    expect(requests.map(({ isGone }) => isGone)).to.deep.equal([true, true]);
    for (const leave of left) leave(new Error('nobody waits'));
    await new Promise(setImmediate);
    expect(log.lines.filter((line) => line.startsWith('error'))).to.deep.equal([]);
  });
});
