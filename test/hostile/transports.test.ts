// Clients that misuse a transport (half messages, tiny pieces, replies that nobody reads, more connections than there is room for) beside
// an honest client: its answers stay right, the event loop is not held, and memory stays within bounds.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'mocha';
import { requestBytes } from '../support/client/http';
import { basic } from '../support/client/rpc';
import { Trial, type Attack } from './trial';
import type { MeteredFacts } from '../support/programs/metered-node';

const ACCOUNT = 'hostile:user';

/** Bytes of a message that does not end: below what every interface takes. */
const UNFINISHED = 900_000;

/** Pieces of one byte each. */
const PIECES = 20_000;

const WEB_SOCKET = {
  Upgrade: 'websocket',
  Connection: 'Upgrade',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA=='
};

/** First byte of a frame: the last one of a text, its first one, and a following one; a ping. */
const [TEXT, FIRST, NEXT, PING] = [0x81, 0x01, 0x00, 0x89];

describe('hostile clients of every transport do not stop the others', function () {
  this.timeout(300_000);
  let trial: Trial;

  before(async () => {
    trial = await Trial.open({ 'rest-core': 'modern', 'rest-rpc-user': ACCOUNT, 'api-key': 'a key' });
  });
  after(() => trial.close());

  const bodies = {
    'a body of REST': request('POST', '/rest/getutxos.bin'),
    'a body of JSON-RPC': request('POST', '/', basic(ACCOUNT)),
    'a body of Esplora’s API': request('POST', '/api/tx'),
    'a body of the node’s own': request('POST', '/broadcast', { 'Content-Type': 'application/json' })
  };

  it('with connections that say nothing, or half of what they have to say', async () => {
    await trial.judge([
      attack('silent connections', 200, () => Buffer.alloc(0)),
      attack('silent Electrum connections', 200, () => Buffer.alloc(0), 'electrum'),
      attack('half a request line', 200, () => Buffer.from('GET /rest/tx/')),
      attack('half a header', 200, () => Buffer.from(`GET /rest/tx/ HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(8_000)}`)),
      attack('half an upgrade', 200, () => Buffer.from('GET /electrum HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n'))
    ]);
  });

  it('with messages that do not end', async () => {
    const part = Buffer.alloc(UNFINISHED, 'a');
    await trial.judge([
      ...Object.entries(bodies).map(([name, head]) => attack(name, 100, () => Buffer.concat([announced(head, UNFINISHED + 1), part]))),
      attack('a line of the Electrum protocol', 150, () => part, 'electrum'),
      ...['/electrum', '/api/v1/ws'].map((path) =>
        attack(`a frame to ${path}`, 100, () => Buffer.concat([upgrade(path), frame(TEXT, part).subarray(0, -1)]))
      ),
      ...['/electrum', '/api/v1/ws'].map((path) =>
        attack(`a message in frames to ${path}`, 100, () => Buffer.concat([upgrade(path), frame(FIRST, part)]))
      )
    ]);
  });

  it('with messages in pieces of a byte', async () => {
    const chunks = Buffer.from('1\r\na\r\n'.repeat(PIECES));
    const frames = Buffer.concat([frame(FIRST, Buffer.from('a')), ...Array<Buffer>(PIECES).fill(frame(NEXT, Buffer.from('a')))]);
    await trial.judge([
      ...Object.entries(bodies).map(([name, head]) =>
        attack(name, 10, () => Buffer.concat([Buffer.from(head + 'Transfer-Encoding: chunked\r\n\r\n'), chunks]))
      ),
      ...['/electrum', '/api/v1/ws'].map((path) => attack(`frames to ${path}`, 10, () => Buffer.concat([upgrade(path), frames]))),
      dribbled('a line of the Electrum protocol', 10, Buffer.alloc(2_000, 'a'), 'electrum'),
      dribbled('a header of HTTP', 10, Buffer.from(`GET / HTTP/1.1\r\nX: ${'a'.repeat(2_000)}`), 'http')
    ]);
  });

  it('with more messages than anybody needs', async () => {
    const ping = Buffer.from('{"id":1,"method":"server.ping"}\n');
    await trial.judge([
      attack('empty lines', 20, () => Buffer.alloc(UNFINISHED, '\n'), 'electrum'),
      attack('lines with a brace', 20, () => Buffer.from('{\n'.repeat(UNFINISHED / 4)), 'electrum'),
      attack('requests of the Electrum protocol', 20, () => Buffer.concat(Array<Buffer>(20_000).fill(ping)), 'electrum'),
      attack('HTTP to the Electrum port', 100, () => Buffer.from(`POST / HTTP/1.1\r\nHost: a\r\n\r\n${ping.toString()}`), 'electrum'),
      ...['/electrum', '/api/v1/ws'].flatMap((path) => [
        attack(`pings to ${path}`, 20, () => Buffer.concat([upgrade(path), ...Array<Buffer>(20_000).fill(frame(PING, Buffer.alloc(0)))])),
        attack(`empty texts to ${path}`, 20, () =>
          Buffer.concat([upgrade(path), ...Array<Buffer>(20_000).fill(frame(TEXT, Buffer.alloc(0)))])
        )
      ]),
      attack('requests in one write', 5, ({ txid }) =>
        Buffer.concat(Array<Buffer>(20_000).fill(requestBytes({ path: `/rest/tx/${txid}.json` }, false)))
      ),
      attack('requests without a Host', 100, () => Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(20_000))),
      attack('upgrades with a body', 200, () =>
        Buffer.concat([
          requestBytes({ method: 'POST', path: '/electrum', headers: WEB_SOCKET, body: Buffer.alloc(1_000, 'a') }, false),
          requestBytes({ path: '/rest/chaininfo.json' }, false)
        ])
      )
    ]);
  });

  it('with replies that nobody reads', async () => {
    const history = ({ electrumHash }: MeteredFacts): string =>
      `{"id":1,"method":"blockchain.scripthash.listunspent","params":["${electrumHash}"]}`;
    await trial.judge([
      unread('blocks of REST', ({ blockHash }) => requestBytes({ path: `/rest/block/${blockHash}.json` }, false)),
      unread('coins of Esplora’s API', ({ scripthash }) => requestBytes({ path: `/api/scripthash/${scripthash}/utxo` }, false)),
      unread('blocks of JSON-RPC', ({ blockHash }) =>
        requestBytes(
          {
            method: 'POST',
            path: '/',
            headers: basic(ACCOUNT),
            body: Buffer.from(`{"id":1,"method":"getblock","params":["${blockHash}",2]}`)
          },
          false
        )
      ),
      unread('coins of the Electrum protocol', (facts) => Buffer.from(`${history(facts)}\n`), 'electrum'),
      unread('coins over WebSocket', (facts) => frame(TEXT, Buffer.from(history(facts))), 'http', upgrade('/electrum'))
    ]);
  });

  it('with connections that come and go', async () => {
    const passing = (name: string, port: Port, first: () => Buffer): Attack => ({
      name,
      begin: async (facts) => {
        for (let round = 0; round < 20; round++) {
          const sockets = await Promise.all(Array.from({ length: 50 }, () => connectTo(facts, port)));
          for (const socket of sockets) {
            socket.write(first());
            socket.resetAndDestroy();
          }
        }
        return undefined;
      }
    });
    await trial.judge([
      passing('reset after half a request', 'http', () => Buffer.from('GET / HTTP')),
      passing('reset after a request', 'http', () => requestBytes({ path: '/rest/chaininfo.json' }, false)),
      passing('reset after an upgrade', 'http', () => upgrade('/electrum')),
      passing('reset after a line', 'electrum', () => Buffer.from('{"id":1,"method":"server.ping"}\n'))
    ]);
  });
});

type Port = 'http' | 'electrum';

async function connectTo(facts: MeteredFacts, port: Port): Promise<Socket> {
  const socket = connect(facts[port], '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Connections that stay open and read what comes, after sending `bytes` each. */
function attack(name: string, connections: number, bytes: (facts: MeteredFacts) => Buffer, port: Port = 'http'): Attack {
  return {
    name,
    begin: async (facts) => {
      const sockets: Socket[] = [];
      for (let i = 0; i < connections; i++) {
        const socket = await connectTo(facts, port);
        sockets.push(socket.resume());
        await sent(socket, bytes(facts));
      }
      return () => {
        for (const socket of sockets) socket.destroy();
      };
    }
  };
}

/** Connections that send their bytes one at a time. */
function dribbled(name: string, connections: number, bytes: Buffer, port: Port): Attack {
  return {
    name,
    begin: async (facts) => {
      const sockets = await Promise.all(Array.from({ length: connections }, () => connectTo(facts, port)));
      for (const socket of sockets) socket.setNoDelay(true).resume();
      for (const byte of bytes) await Promise.all(sockets.map((socket) => sent(socket, Buffer.of(byte))));
      return () => {
        for (const socket of sockets) socket.destroy();
      };
    }
  };
}

/** Connections that ask for the same again and again, and read nothing. */
function unread(name: string, request: (facts: MeteredFacts) => Buffer, port: Port = 'http', first: Buffer = Buffer.alloc(0)): Attack {
  return {
    name,
    begin: async (facts) => {
      const sockets = await Promise.all(Array.from({ length: 30 }, () => connectTo(facts, port)));
      for (const socket of sockets) socket.pause().write(Buffer.concat([first, ...Array<Buffer>(100).fill(request(facts))]));
      return () => {
        for (const socket of sockets) socket.destroy();
      };
    }
  };
}

/** Resolves when the bytes have been handed to the system, or the server has ended the connection. */
function sent(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      socket.off('close', end);
      resolve();
    };
    socket.once('close', end);
    if (socket.destroyed) end();
    else socket.write(bytes, end);
  });
}

/** The head of a request, which is not ended. */
function request(method: string, path: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}`;
}

const announced = (head: string, bytes: number): Buffer => Buffer.from(`${head}Content-Length: ${bytes}\r\n\r\n`);

const upgrade = (path: string): Buffer => Buffer.from(`${request('GET', path, WEB_SOCKET)}\r\n`);

/** A frame of a client with a mask of zeros (RFC 6455, 5.2). */
function frame(first: number, payload: Buffer): Buffer {
  const length = payload.length < 126 ? Buffer.of(0x80 | payload.length) : Buffer.concat([Buffer.of(0xff), Buffer.alloc(8)]);
  if (payload.length >= 126) length.writeBigUInt64BE(BigInt(payload.length), 1);
  return Buffer.concat([Buffer.of(first), length, Buffer.alloc(4), payload]);
}
