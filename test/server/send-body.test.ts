import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { AT_ONCE_BYTES, PIECE_BYTES, sendBody } from '../../lib/server/http/responses';
import { ask, askInOneWrite, openSocket, requestBytes } from '../support/client/http';
import type { AddressInfo } from 'node:net';

/** Bytes in which all pieces differ. */
function bodyOf(length: number): Buffer {
  return Buffer.from(Uint32Array.from({ length: Math.ceil(length / 4) }, (_, i) => i).buffer, 0, length);
}

const LENGTHS = [0, 1, AT_ONCE_BYTES, AT_ONCE_BYTES + 1, AT_ONCE_BYTES + PIECE_BYTES, AT_ONCE_BYTES + 3 * PIECE_BYTES - 7];

describe('the body of a reply', () => {
  let server: Server;
  let port: number;
  let last: ServerResponse;
  let turnsTaken: number;

  beforeEach(async () => {
    server = createServer((request, response) => {
      last = response;
      const body = bodyOf(Number(request.url?.slice(1)));
      response.writeHead(200, ['Content-Length', String(body.length)]);
      sendBody(response, body);
      turnsTaken = 0;
      const count = (): void => {
        turnsTaken++;
        if (!response.writableEnded && !response.destroyed) setImmediate(count);
      };
      count();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('arrives whole and in order, for every length', async () => {
    for (const length of LENGTHS) expect((await ask(port, { path: `/${length}` })).body.equals(bodyOf(length)), `${length}`).to.equal(true);
  });

  it('arrives whole after others on its connection', async () => {
    const replies = await askInOneWrite(
      port,
      LENGTHS.map((length) => ({ path: `/${length}` }))
    );
    expect(replies.map(({ body }, i) => body.equals(bodyOf(LENGTHS[i] as number)))).to.deep.equal(LENGTHS.map(() => true));
  });

  it('is left out for HEAD, for every length', async () => {
    const length = 2 * AT_ONCE_BYTES;
    const { status, headers, body } = await ask(port, { method: 'HEAD', path: `/${length}` });
    expect({ status, length: headers['content-length'], sent: body.length }).to.deep.equal({
      status: 200,
      length: String(length),
      sent: 0
    });
  });

  it('gives up the event loop after each piece', async () => {
    await ask(port, { path: `/${AT_ONCE_BYTES + 4 * PIECE_BYTES}` });
    expect(turnsTaken).to.be.greaterThan(AT_ONCE_BYTES / PIECE_BYTES + 2);
  });

  it('is not sent further when its client has left', async () => {
    const socket = await openSocket(port);
    socket.on('error', () => undefined);
    socket.write(requestBytes({ path: `/${64 * PIECE_BYTES}` }, false));
    await once(socket, 'readable');
    socket.destroy();
    await once(last, 'close');
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    expect({ ended: last.writableEnded, waiting: last.writableLength }).to.deep.equal({ ended: false, waiting: 0 });
  });
});
