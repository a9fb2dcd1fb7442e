// The connections of the node's HTTP server: how long they may be idle, and requests that ask for another protocol.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What Node itself answers to broken requests when there is no `clientError` listener. */
const ANSWERS: Readonly<Record<string, string | undefined>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large'
};

/** Node shows no more header names and values than this: the header that says where the body ends may be missing. */
const MOST_HEADER_TEXTS = 2_000;

/** A connection over TLS counts once it is secure. */
function connectionEvent(server: Server): 'connection' | 'secureConnection' {
  return 'setSecureContext' in server ? 'secureConnection' : 'connection';
}

/**
 * Cuts off connections on which no request, or only part of one, comes within the inactivity timeout (`rpctimeout`), as Bitcoin
 * Core does. Node would wait for more than a minute and end them with an error, which bcoin logs with a stack.
 */
export class IdleConnections {
  readonly #server: Server;
  readonly #timeoutMs: number;
  /** Connections without a request so far. After the first reply Node itself waits for the next request. */
  readonly #silent = new WeakSet<Duplex>();
  #keepAliveBefore: number | undefined;

  /** `timeoutMs`: how long a connection may be idle before the first request and between requests. */
  constructor(server: Server, timeoutMs: number) {
    this.#server = server;
    this.#timeoutMs = timeoutMs;
  }

  open(): void {
    const server = this.#server;
    server.on(connectionEvent(server), this.#begin);
    server.on('clientError', this.#end);
    // Set on the server: a timeout set per request would also cut off the node's own calls.
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

  /** To be called for every request: the connection is no longer silent. */
  requestCame(socket: Socket): void {
    if (this.#silent.delete(socket)) socket.setTimeout(0);
  }

  readonly #begin = (socket: Socket): void => {
    this.#silent.add(socket);
    socket.setTimeout(this.#timeoutMs);
  };

  /** As Node does it, but a request that took too long destroys the socket without an error. */
  readonly #end = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const { code = '' } = error;
    if (socket.writable && replyUnderWay(socket)?.headersSent !== true)
      socket.write(`HTTP/1.1 ${ANSWERS[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    socket.destroy(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? undefined : error);
  };
}

/**
 * Serves a request from an `upgrade` event as if it had not asked for another protocol (RFC 9110, 7.8), as Bitcoin Core does: some HTTP
 * clients offer HTTP/2 (h2c) with ordinary requests. If there is an `upgrade` listener, as bcoin's for its websockets, Node's parser
 * lets go of the connection at such a request, with the body unread. The request is put back before the bytes that follow it, without
 * its `Upgrade`, and the server gets the connection again: Node takes care of order, bodies and pipelined requests as before.
 * `head`: the bytes that came after the request's headers.
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

/** Whether a reply to an earlier request has yet to be sent. */
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

/**
 * The reply whose turn it is on the connection; replies to later requests wait for its `finish`. Node has no public property for it, and
 * itself checks this one before the next reply gets the connection (ERR_HTTP_SOCKET_ASSIGNED).
 */
function replyUnderWay(socket: Duplex): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}
