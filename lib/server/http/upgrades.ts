// Requests on the node's HTTP server that ask for another protocol, and do not get it.

import { connectionEvent } from './connections';
import { replyUnderWay } from './under-way';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** The bytes that may wait on a connection to which a request is put back: with each one Node reads a further piece of what the client sends. */
const MOST_WAITING_BYTES = 64 * 1_024;

/** Decides whether a request that asks for another protocol is handed over with its connection. */
type Decision = (request: IncomingMessage) => boolean;

/** Newer versions of Node ask this function; it is an option of createServer. Older versions hand over every such request. */
type DecidingServer = Server & { shouldUpgradeCallback?: Decision };

/** Replaces the decision, where Node asks for one. Returns a function that puts the former one back. */
export function decideUpgrades(server: DecidingServer, decision: Decision): () => void {
  const former = server.shouldUpgradeCallback;
  if (former === undefined) return () => undefined;
  server.shouldUpgradeCallback = decision;
  return () => {
    server.shouldUpgradeCallback = former;
  };
}

/**
 * Serves a request from an `upgrade` event as if it had not asked for another protocol (RFC 9110, 7.8), as Bitcoin Core does: some HTTP
 * clients offer HTTP/2 (h2c) with ordinary requests. If there is an `upgrade` listener, as bcoin's for its websockets, Node's parser
 * lets go of the connection at such a request. The request is put back before the bytes that follow it, without its `Upgrade`, and the
 * server gets the connection again: Node takes care of order, bodies and pipelined requests as before.
 * `head`: the bytes that came after the request's headers; a body must not have been read. A client that sends many such requests without
 * waiting for replies is cut off.
 */
export function servePlainly(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const close = (): void => {
    socket.destroy();
  };
  if (socket.readableLength > 0 && socket.readableLength + head.length > MOST_WAITING_BYTES) {
    socket.destroy();
    return;
  }
  // The server's own listeners have left the socket.
  socket.on('error', close);
  socket.on('timeout', close);
  // Without delay: a connection that the client has half-closed would otherwise emit its end.
  socket.unshift(Buffer.concat([plainHead(request), head]));
  whenAnswered(socket, () => {
    // The parser that found the request may still be at work.
    setImmediate(() => {
      if (socket.destroyed || socket.writableEnded) return;
      socket.off('timeout', close);
      // The server's `connection` listeners add their own again.
      socket.removeAllListeners('error');
      server.emit(connectionEvent(server), socket);
    });
  });
}

/** The head of the request as it came, without `Upgrade`. */
function plainHead({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2);
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Calls back once no reply is due on the connection; never if the connection breaks before that. */
function whenAnswered(socket: Duplex, done: () => void): void {
  const reply = replyUnderWay(socket);
  // Node's own `finish` listener runs first: when this one runs, the next reply already has the connection.
  if (reply === undefined) done();
  else
    reply.once('finish', () => {
      whenAnswered(socket, done);
    });
}
