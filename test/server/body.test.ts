import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { Unfinished } from '../../lib/server/bounds/unfinished';
import { HttpError } from '../../lib/server/errors';
import { readBody } from '../../lib/server/http/body';
import { ClientGoneError } from '../../lib/turns/client';
import { openSocket, untilClosed } from '../support/client/http';
import { until } from '../support/expectations/until';
import { SteppedTimers } from '../support/process/clock';
import type { AddressInfo, Socket } from 'node:net';

const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';
const MOST = 100_000;
const TIMEOUT_MS = 10_000;
/** More pieces than a client may send that are shorter. */
const PIECES = 10_100;
const SHORT = 80;

describe('a body', () => {
  let server: Server;
  let unfinished: Unfinished;
  /** Each body that was read, or the error. */
  let outcomes: (Buffer | Error)[];
  let client: Socket;

  beforeEach(async () => {
    unfinished = new Unfinished({ largeBytes: 300_000, smallBytes: 65_536 });
    outcomes = [];
    server = createServer((request: IncomingMessage) => {
      readBody(request, { maxBodyBytes: MOST, timeoutMs: TIMEOUT_MS, unfinished }).then(
        (body) => outcomes.push(body),
        (error: unknown) => outcomes.push(error as Error)
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = await connected();
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
    client.destroy();
  });

  const connected = async (): Promise<Socket> => {
    const socket = await openSocket((server.address() as AddressInfo).port);
    return socket.on('error', () => undefined);
  };

  const chunk = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

  it('is what was sent, announced or in chunks of any size', async () => {
    const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, i) => i & 0xff));
    client.write(Buffer.concat([Buffer.from(`${HEAD}Content-Length: ${bytes.length}\r\n\r\n`), bytes]));
    await until(() => outcomes.length === 1);
    for (const length of [7, 1_000, 20_000]) {
      const socket = await connected();
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += length) chunks.push(chunk(bytes.subarray(at, at + length)));
      socket.write(Buffer.concat([Buffer.from(HEAD + CHUNKED), ...chunks, Buffer.from('0\r\n\r\n')]));
      const before = outcomes.length;
      await until(() => outcomes.length > before);
      socket.destroy();
    }
    expect(outcomes).to.deep.equal(Array<Buffer>(4).fill(bytes));
  });

  it('may come in thousands of pieces that are not tiny', async () => {
    const bytes = Buffer.alloc(PIECES * SHORT, 7);
    server.removeAllListeners('request').on('request', (request: IncomingMessage) => {
      void readBody(request, { maxBodyBytes: bytes.length, timeoutMs: 10_000, unfinished: new Unfinished() }).then((body) =>
        outcomes.push(body)
      );
    });
    client.write(Buffer.concat([Buffer.from(HEAD + CHUNKED), ...Array<Buffer>(PIECES).fill(chunk(Buffer.alloc(SHORT, 7)))]));
    client.write('0\r\n\r\n');
    await until(() => outcomes.length > 0);
    expect(outcomes).to.deep.equal([bytes]);
  });

  it('may take longer than a client may be silent, if something comes now and then', async () => {
    const timers = new SteppedTimers(TIMEOUT_MS);
    try {
      let taken = 0;
      server.on('request', (request: IncomingMessage) => request.on('data', () => taken++));
      client.write(HEAD + CHUNKED);
      for (let sent = 1; sent <= 3; sent++) {
        client.write(chunk(Buffer.from('a')));
        await until(() => taken === sent || outcomes.length > 0);
        timers.passes(TIMEOUT_MS - 1);
      }
      client.write('0\r\n\r\n');
      await until(() => outcomes.length > 0);
      expect(outcomes).to.deep.equal([Buffer.from('aaa')]);
    } finally {
      timers.restore();
    }
  });

  it('in thousands of tiny pieces cuts the client off, before its end and behind the limit', async () => {
    for (const first of ['', chunk(Buffer.alloc(MOST + 1)).toString('latin1')]) {
      outcomes = [];
      const socket = await connected();
      const closed = untilClosed(socket);
      socket.write(HEAD + CHUNKED + first + '1\r\na\r\n'.repeat(first === '' ? 10_001 : 30_000));
      await closed;
      await until(() => outcomes.length > 0);
      expect(outcomes[0]).to.be.instanceOf(first === '' ? ClientGoneError : HttpError);
    }
    expect(unfinished.stalled, 'how many were cut off').to.equal(2);
  });

  it('that breaks off, or is too long, is an error and takes no memory', async () => {
    client.write(`${HEAD}Content-Length: 50000\r\n\r\n${'a'.repeat(40_000)}`);
    await until(() => unfinished.bytes > 0);
    client.destroy();
    await until(() => outcomes.length === 1);
    expect(outcomes[0]).to.be.instanceOf(ClientGoneError);
    for (let i = 0; i < 10; i++) {
      const socket = await connected();
      socket.write(`${HEAD}Content-Length: ${MOST + 1}\r\n\r\n${'a'.repeat(MOST)}`);
      await until(() => outcomes.length === 2 + i);
      expect((outcomes[1 + i] as HttpError).status).to.equal(413);
    }
    const socket = await connected();
    socket.write(Buffer.concat([Buffer.from(HEAD + CHUNKED), chunk(Buffer.alloc(MOST)), chunk(Buffer.alloc(1))]));
    await until(() => outcomes.length === 12);
    expect((outcomes[11] as HttpError).status).to.equal(413);
    expect(unfinished.bytes).to.equal(0);
  });

  it('is dropped if it has been unfinished for longest and there is no more memory', async () => {
    const closed = untilClosed(client);
    const part = `${HEAD}Content-Length: 99999\r\n\r\n${'a'.repeat(99_998)}`;
    client.write(part);
    const later: Socket[] = [];
    for (let i = 0; i < 3; i++) {
      const socket = await connected();
      await new Promise((resolve) => socket.write(part, resolve));
      later.push(socket);
    }
    await closed;
    for (const socket of later) socket.write('b');
    await until(() => outcomes.length === 4);
    expect(outcomes.map((one) => (one instanceof Error ? one.name : one.length))).to.deep.equal([
      'ClientGoneError',
      99_999,
      99_999,
      99_999
    ]);
  });

  it('takes no memory once it is given up, also when the request was answered meanwhile', async () => {
    server.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
      readBody(request, { maxBodyBytes: MOST, timeoutMs: 100, unfinished }).catch((error: unknown) => outcomes.push(error as Error));
      request.once('data', () => response.end());
    });
    const closed = untilClosed(client);
    client.write(`${HEAD}Content-Length: 50000\r\n\r\n${'a'.repeat(40_000)}`);
    expect((await closed).toString()).to.match(/^HTTP\/1\.1 200 /);
    await until(() => outcomes.length === 1);
    expect(outcomes[0]).to.be.instanceOf(ClientGoneError);
    expect([unfinished.bytes, unfinished.stalled]).to.deep.equal([0, 1]);
  });
});
