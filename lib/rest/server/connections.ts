// The connections of the node's HTTP server: how long nothing may come on one, and requests on it that ask for another
// protocol.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What Node says to broken requests unless somebody else does. */
const ANSWERS: Readonly<Record<string, string | undefined>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large'
};

/** Node shows no more headers than this, as names and values in turn: one that says where the body ends may be missing. */
const MOST_HEADER_TEXTS = 2_000;

/** A connection over TLS counts once it is secure. */
function connectionEvent(server: Server): 'connection' | 'secureConnection' {
  return 'setSecureContext' in server ? 'secureConnection' : 'connection';
}

/**
 * Cuts off connections on which nothing comes, or not all of a request, after the inactivity timeout (`rpctimeout`), as Bitcoin
 * Core does. Node would wait for a minute and more, and end them with an error, which bcoin writes into its log with a stack.
 */
export class IdleConnections {
  readonly #server: Server;
  readonly #timeoutMs: number;
  /** Connections without a request so far. After the first reply Node itself waits for the next request. */
  readonly #silent = new WeakSet<Duplex>();
  #keepAliveBefore: number | undefined;

  /** `timeoutMs`: how long nothing may come, before the first request and between requests. */
  constructor(server: Server, timeoutMs: number) {
    this.#server = server;
    this.#timeoutMs = timeoutMs;
  }

  open(): void {
    const server = this.#server;
    server.on(connectionEvent(server), this.#begin);
    server.on('clientError', this.#end);
    // Idle time is the server's: set per request, it would also cut calls of the node off.
    this.#keepAliveBefore = server.keepAliveTimeout;
    server.keepAliveTimeout = this.#timeoutMs;
  }

  close(): void {
    if (this.#keepAliveBefore === undefined) return;
    const server = this.#server;
    server.off(connectionEvent(server), this.#begin);
    server.off('clientError', this.#end);
    server.keepAliveTimeout = this.#keepAliveBefore;
    this.#keepAliveBefore = undefined;
  }

  /** A request has come: the client no longer lets the server wait. */
  requestCame(socket: Socket): void {
    if (this.#silent.delete(socket)) socket.setTimeout(0);
  }

  readonly #begin = (socket: Socket): void => {
    this.#silent.add(socket);
    socket.setTimeout(this.#timeoutMs);
  };

  /** As Node does it, but a request that took too long as a whole leaves no error behind. */
  readonly #end = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const { code = '' } = error;
    if (socket.writable && replyUnderWay(socket)?.headersSent !== true)
      socket.write(`HTTP/1.1 ${ANSWERS[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    socket.destroy(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? undefined : error);
  };
}

/**
 * Serves a request from an `upgrade` event as if it had not asked for another protocol (RFC 9110, 7.8), as Bitcoin Core does: some HTTP
 * clients ask for HTTP/2 (h2c) on the way. Once anybody listens to `upgrade`, as bcoin does for its websockets, Node lets go of a
 * connection with such a request, its body unread. The request is put back in front of what follows, without its `Upgrade`, and
 * the server gets the connection again: order, bodies and pipelined requests are Node's business as before. `head`: what came behind
 * the request's headers.
 */
export function servePlainly(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  if (request.rawHeaders.length >= MOST_HEADER_TEXTS) {
    socket.destroy();
    return;
  }
  const close = (): void => {
    socket.destroy();
  };
  // The server's own listeners have left the socket.
  socket.on('error', close);
  socket.on('timeout', close);
  // At once: a connection whose client has said all would otherwise be at its end.
  socket.unshift(Buffer.concat([plainHead(request), head]));
  whenAnswered(socket, () => {
    // The parser that found the request may still be at work.
    setImmediate(() => {
      if (socket.destroyed || socket.writableEnded) return;
      socket.off('timeout', close);
      // Whoever listens to connections adds theirs again.
      socket.removeAllListeners('error');
      server.emit(connectionEvent(server), socket);
    });
  });
}

/** Whether a reply to a request from before has yet to be sent. */
export function isReplyDue(socket: Duplex): boolean {
  return replyUnderWay(socket) !== undefined;
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

/** Calls back when no reply is due on the connection any more; never when the connection breaks before. */
function whenAnswered(socket: Duplex, done: () => void): void {
  const reply = replyUnderWay(socket);
  // Node listened to `finish` before: when this listener runs, the next reply has its turn.
  if (reply === undefined) done();
  else
    reply.once('finish', () => {
      whenAnswered(socket, done);
    });
}

/**
 * The reply whose turn it is on the connection; those of later requests wait for its `finish`. Node has no public name for it, and looks
 * in the same place before the next reply gets the connection (ERR_HTTP_SOCKET_ASSIGNED).
 */
function replyUnderWay(socket: Duplex): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}
