import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { writeLines } from '../../lib/server/sockets/line-writer';
import { until } from '../support/expectations/until';
import type { Piece } from '../../lib/server/sockets/outbox';

const LONG = 70_000;

const bytes = fc.oneof(
  fc.string({ maxLength: 200, unit: 'binary' }),
  fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
  fc.integer({ min: 1_000, max: LONG }).map((length) => Buffer.alloc(length, `${length}`))
);
const pieces: fc.Arbitrary<Piece[]> = fc.array(
  fc.oneof(fc.string({ maxLength: 200, unit: 'binary' }), fc.record({ bytes, isLast: fc.boolean() })),
  {
    minLength: 1,
    maxLength: 20
  }
);

const textOf = (piece: Piece): Buffer => {
  const { bytes, isLast } = typeof piece === 'string' ? { bytes: piece, isLast: true } : piece;
  return Buffer.concat([typeof bytes === 'string' ? Buffer.from(bytes) : bytes, Buffer.from(isLast ? '\n' : '')]);
};

describe('lines for a socket', () => {
  let server: Server;
  const clients: Socket[] = [];
  before(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    for (const client of clients) client.destroy();
    server.close();
  });

  const pair = async (): Promise<readonly [server: Socket, client: Socket]> => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    clients.push(client);
    const [socket] = (await once(server, 'connection')) as [Socket];
    return [socket, client];
  };

  it('are their pieces one after the other, whatever these are', async () => {
    const [socket, client] = await pair();
    const read: Buffer[] = [];
    client.on('data', (chunk: Buffer) => read.push(chunk));
    await fc.assert(
      fc.asyncProperty(pieces, async (some) => {
        read.length = 0;
        await new Promise<void>((resolve) => {
          writeLines(socket, some, resolve);
        });
        const expected = Buffer.concat(some.map(textOf));
        await until(() => read.reduce((sum, { length }) => sum + length, 0) === expected.length);
        expect(Buffer.concat(read).equals(expected)).to.equal(true);
      })
    );
  });

  it('stay as they are while a client does not read and others are sent theirs', async () => {
    const sockets: (readonly [server: Socket, client: Socket])[] = [];
    for (let i = 0; i < 8; i++) sockets.push(await pair());
    const sent = sockets.map((): Buffer[] => []);
    for (let round = 0; round < 60; round++)
      for (const [i, [socket]] of sockets.entries()) {
        // Short enough to be joined.
        const some = Array.from({ length: 4 }, (_, k) => ({ bytes: Buffer.alloc(12_000, `${i} ${round} ${k} `), isLast: true }));
        sent[i]?.push(...some.map(textOf));
        writeLines(socket, some, () => undefined);
      }
    for (const [i, [, client]] of sockets.entries()) {
      const expected = Buffer.concat(sent[i] ?? []);
      const read: Buffer[] = [];
      let length = 0;
      client.on('data', (chunk: Buffer) => {
        read.push(chunk);
        length += chunk.length;
      });
      await until(() => length === expected.length);
      expect(Buffer.concat(read).equals(expected)).to.equal(true);
    }
  });
});
