import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { jsonReply } from '../../lib/rest/format';
import { Unfinished } from '../../lib/server/bounds/unfinished';
import { readBody } from '../../lib/server/http/body';
import { Responses } from '../../lib/server/http/responses';
import { DEFAULT_LIMITS } from '../../lib/server/limits';
import { serveRoutes } from '../support/client/endpoints';
import { ask, countConnections, openSocket, requestBytes, untilClosed } from '../support/client/http';
import type { Socket } from 'node:net';
import type { RestRequest } from '../../lib/rest/endpoint';
import type { Reply } from '../../lib/server/http/reply';

/** More than the buffers of a connection take. */
const LARGE = 24_000_000;
const MOST = 2 * LARGE;

describe('replies that clients are slow to read', () => {
  let server: Server;
  let port: number;
  let made: number;
  /** Replies that were released. */
  let released: number;
  let body: Buffer;
  let responses: Responses;

  /** `mostBytes` for two of the large replies. */
  const serve = async (timeoutMs: number): Promise<void> => {
    const large = async ({ path }: RestRequest): Promise<Reply> => {
      made++;
      const reply = jsonReply(path.endsWith('/kept') ? body : Buffer.from(body));
      if (path.startsWith('/later')) await new Promise((resolve) => setImmediate(resolve));
      return reply;
    };
    const held = async (request: RestRequest): Promise<Reply> => ({ ...(await large(request)), release: () => released++ });
    server = createServer();
    responses = new Responses(server, { mostBytes: MOST, readRate: { bytesPerSecond: 1_000, windowMs: timeoutMs } });
    const routes = [
      { prefix: '/rest/held', endpoint: held, isHeavy: () => true },
      { prefix: '/rest/large', endpoint: large, isHeavy: () => true },
      { prefix: '/rest/unforeseen', endpoint: large },
      { prefix: '/rest/small', endpoint: () => Promise.resolve(jsonReply(Buffer.from('{}\n'))) }
    ];
    port = await serveRoutes(server, routes, { responses });
  };

  /** Sends a request, and reads only the first bytes of the reply. */
  const askAndPause = async (path: string): Promise<Socket> => {
    const socket = await openSocket(port);
    socket.on('error', () => undefined);
    socket.write(requestBytes({ path }, true));
    await once(socket, 'readable');
    return socket;
  };
  const status = async (path: string): Promise<number> => (await ask(port, { path })).status;
  /** Resolves when the server has noticed the end of the connection. */
  const leave = async (socket: Socket): Promise<void> => {
    const connections = await countConnections(server);
    socket.destroy();
    while ((await countConnections(server)) >= connections) await new Promise(setImmediate);
  };
  beforeEach(() => {
    made = released = 0;
    body = Buffer.alloc(LARGE, 0x20);
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('are sent from the bytes that were made, without a copy', async () => {
    await serve(30_000);
    const sockets = [await askAndPause('/rest/large/kept'), await askAndPause('/rest/large/later/kept')];
    body.fill(0x58, LARGE - 1);
    for (const socket of sockets) expect((await untilClosed(socket)).at(-1)).to.equal(0x58);
  });

  it('hold no worker', async () => {
    await serve(30_000);
    await askAndPause('/rest/large/later');
    expect(await status('/rest/small')).to.equal(200);
    expect(await status('/rest/large')).to.equal(200);
  });

  it('are bounded together: beyond the bound large ones are refused as by a full queue, and not made', async () => {
    await serve(30_000);
    const sockets = [await askAndPause('/rest/large'), await askAndPause('/rest/large')];
    const refused = await ask(port, { path: '/rest/large' });
    expect(refused).to.deep.include({ status: 500, contentType: 'text/plain', body: Buffer.from('Work queue depth exceeded\r\n') });
    expect(made).to.equal(2);
    expect(await status('/rest/unforeseen')).to.equal(500);
    expect(await status('/rest/small')).to.equal(200);
    for (const socket of sockets) await untilClosed(socket);
    expect(await status('/rest/large')).to.equal(200);
  });

  it('count once, however many clients wait for the same bytes', async () => {
    await serve(30_000);
    const sockets: Socket[] = [];
    while (sockets.length < 5) sockets.push(await askAndPause('/rest/large/kept'));
    expect(await status('/rest/large')).to.equal(200);
    sockets.push(await askAndPause('/rest/large'));
    expect(await status('/rest/large')).to.equal(500);
    for (const socket of sockets.slice(1)) await leave(socket);
    expect(await status('/rest/large')).to.equal(200);
    sockets.push(await askAndPause('/rest/large'));
    expect(await status('/rest/large')).to.equal(500);
    await leave(sockets[0] as Socket);
    expect(await status('/rest/large')).to.equal(200);
  });

  it('count once together with the messages of other protocols that share their memory', async () => {
    await serve(60_000);
    for (let client = 0; client < 3; client++) responses.hold(body.buffer);
    expect(responses.isFull).to.equal(false);
    expect((await ask(port, { path: '/rest/large' })).status).to.equal(200);
    responses.countOthers(LARGE);
    expect(responses.isFull).to.equal(true);
    for (let client = 0; client < 3; client++) responses.release(body.buffer);
    expect(responses.isFull).to.equal(false);
  });

  it('no longer count once their clients have left, also those behind others on their connection', async () => {
    await serve(30_000);
    const socket = await openSocket(port);
    socket.on('error', () => undefined);
    socket.write(Buffer.concat([requestBytes({ path: '/rest/large' }, false), requestBytes({ path: '/rest/large' }, false)]));
    await once(socket, 'readable');
    expect(await status('/rest/large')).to.equal(500);
    await leave(socket);
    expect(await status('/rest/large')).to.equal(200);
  });

  it('are released when their clients have left, also those behind others on their connection', async () => {
    await serve(30_000);
    const socket = await openSocket(port);
    socket.on('error', () => undefined);
    socket.write(Buffer.concat(['/rest/held/kept', '/rest/held/kept', '/rest/small'].map((path) => requestBytes({ path }, false))));
    await once(socket, 'readable');
    expect([made, released]).to.deep.equal([2, 0]);
    await leave(socket);
    expect(await status('/rest/small')).to.equal(200);
    expect(released).to.equal(2);
  });

  it('are cut off when nothing is read within the timeout', async () => {
    await serve(50);
    const gone: Promise<unknown>[] = [];
    server.on('connection', (socket: Socket) => gone.push(new Promise((resolve) => socket.once('close', resolve))));
    for (let i = 0; i < 2; i++) await askAndPause('/rest/large');
    await Promise.all(gone);
    // There is room again. With HEAD no body is sent: a slow reader would be cut off here, too.
    expect((await ask(port, { method: 'HEAD', path: '/rest/large' })).status).to.equal(200);
  });

  it('are cut off also when a request with a body came after them, for us or for the node', async () => {
    await serve(100);
    const bodies: string[] = [];
    const [ours] = server.listeners('request') as [RequestListener];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      if (request.url !== '/elsewhere') ours(request, response);
      else
        void readBody(request, { ...DEFAULT_LIMITS, unfinished: new Unfinished() }).then(
          (text) => bodies.push(text.toString()) && response.end()
        );
    });
    const gone = once(server, 'connection').then(([socket]) => once(socket as Socket, 'close'));
    const socket = await openSocket(port);
    socket.on('error', () => undefined);
    socket.write(requestBytes({ path: '/rest/large' }, false));
    await once(socket, 'readable');
    socket.write(requestBytes({ method: 'POST', path: '/elsewhere', body: Buffer.from('whole') }, false));
    await gone;
    expect(bodies).to.deep.equal(['whole']);
  });
});
