// The usual calls, made before the first client can connect: a process that has just started takes several times as long for them, until
// V8 has compiled what they run. They come over a connection, like those of clients.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { toDisplayHex } from '../../bitcoin/hash';

const MOST_MS = 1_500;
const MOST_CALLS = 6_000;
/** Scripts whose calls are sent together. */
const TOGETHER = 8;

const LINE_END = 0x0a;

const line = (method: string, params: readonly unknown[]): string => `${JSON.stringify({ jsonrpc: '2.0', id: 0, method, params })}\n`;

const OF_SCRIPTS = ['subscribe', 'get_history', 'get_balance', 'listunspent', 'unsubscribe'].map((name) => `blockchain.scripthash.${name}`);
const OTHERS = ['server.ping', 'blockchain.headers.subscribe', 'mempool.get_fee_histogram'].map((method) => line(method, []));

export interface WarmUpParts {
  /** Serves a connection as that of a client. */
  readonly serve: (socket: Socket) => void;
  /** Scripts that have histories, each its SHA-256. */
  readonly scripts: readonly Buffer[];
  /** Ends it early. */
  readonly signal: AbortSignal;
}

/** Makes calls until there were enough, or for a second and a half. @throws Error when there is no connection, or it breaks */
export async function warmUp({ serve, scripts, signal }: WarmUpParts): Promise<void> {
  const end = performance.now() + MOST_MS;
  const { client, ended } = await clientOf(serve);
  const stop = (): void => {
    client.destroy();
  };
  // What is read says it too.
  client.on('error', () => undefined);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const chunks = client[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const ask = async (lines: readonly string[]): Promise<void> => {
      client.write(lines.join(''));
      for (let left = lines.length; left > 0;) {
        const chunk = await chunks.next();
        if (chunk.done === true) throw new Error('the connection was closed');
        for (const byte of chunk.value) if (byte === LINE_END) left--;
      }
    };
    await ask([line('server.version', ['warm-up', '1.6'])]);
    for (let calls = 0; calls < MOST_CALLS && performance.now() < end;) {
      const lines = [...namesFrom(scripts, calls).flatMap((name) => OF_SCRIPTS.map((method) => line(method, [name]))), ...OTHERS];
      await ask(lines);
      calls += lines.length;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    client.destroy();
    await ended;
  }
}

/** Every second script has no history. Calls for the others are answered from the store once or twice, and then from memory. */
function namesFrom(scripts: readonly Buffer[], from: number): string[] {
  return Array.from({ length: TOGETHER }, (_, i) => {
    const known = i % 2 === 0 ? scripts[(from + i) % scripts.length] : undefined;
    return toDisplayHex(known ?? randomBytes(32));
  });
}

/** A connection that `serve` serves. Nobody else can use the port. `ended`: resolves when the served end is closed. */
async function clientOf(serve: (socket: Socket) => void): Promise<{ readonly client: Socket; readonly ended: Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const served = new Promise<Socket>((resolve) => {
      server.on('connection', (socket) => {
        if (socket.remotePort !== client.localPort) {
          socket.destroy();
          return;
        }
        serve(socket);
        resolve(socket);
      });
    });
    const [socket] = await Promise.all([served, once(client, 'connect')]);
    return { client, ended: new Promise((resolve) => socket.once('close', () => resolve())) };
  } finally {
    server.close();
  }
}
