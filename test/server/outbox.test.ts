import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { SlowReaders } from '../../lib/server/bounds/slow-readers';
import { Outbox } from '../../lib/server/sockets/outbox';
import { until } from '../support/expectations/until';

const CLIENTS = 24;
const MESSAGE = Buffer.alloc(262_144, 'm');

/** Nobody is cut off. */
const slowReaders = new SlowReaders({ bytesPerSecond: 1, windowMs: 60_000 });

describe('a message to many clients', () => {
  let server: Server;
  const clients: { readonly socket: Socket; read: number }[] = [];
  const outboxes: Outbox[] = [];
  /** Clients for which a piece was handed over; `ends` has those for which the last piece was. */
  const begun = new Set<number>();
  const ends: number[] = [];
  /** What waits to be read, once for each client and part. */
  const held: ArrayBufferLike[] = [];
  /** Length of texts that wait to be read. */
  let texts = 0;

  before(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    for (let i = 0; i < CLIENTS; i++) {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      const [peer] = (await once(server, 'connection')) as [Socket];
      const client = { socket, read: 0 };
      socket.on('data', ({ length }) => (client.read += length));
      clients.push(client);
      outboxes.push(
        new Outbox({
          socket: peer,
          outflow: {
            hold: (memory) => held.push(memory),
            release: (memory) => held.splice(held.indexOf(memory), 1),
            countOthers: (bytes) => (texts += bytes),
            slowReaders,
            othersSentBytes: 0
          },
          write: (pieces, written) => {
            begun.add(i);
            for (const piece of pieces) if (typeof piece === 'string' || piece.isLast) ends.push(i);
            for (const [at, piece] of pieces.entries())
              peer.write(typeof piece === 'string' ? piece : piece.bytes, at === pieces.length - 1 ? written : undefined);
          },
          progressed: () => undefined
        })
      );
    }
  });
  after(() => {
    for (const { socket } of clients) socket.destroy();
    server.close();
  });

  it('is handed over for some of them in each turn, and reaches them all', async () => {
    for (const outbox of outboxes) outbox.add([MESSAGE]);
    await setImmediate();
    expect(begun.size).to.be.at.most(8);
    await until(() => clients.every(({ read }) => read === MESSAGE.length));
    expect(ends.toSorted((a, b) => a - b)).to.deep.equal(outboxes.map((_, i) => i));
  });

  it('is one message in several parts, and its memory is held until the client has taken it', async () => {
    ends.length = 0;
    const [outbox, client] = [outboxes[0], clients[0]];
    outbox?.add(['{', MESSAGE, Buffer.from('}')]);
    outbox?.add('next');
    expect(held).to.have.length(2);
    expect(texts).to.equal(5);
    expect(outbox?.unreadBytes).to.equal(MESSAGE.length + 6);
    await until(() => client?.read === 2 * MESSAGE.length + 6);
    expect(ends).to.deep.equal([0, 0]);
    await until(() => held.length === 0 && texts === 0);
  });
});
