// The connections of the node's HTTP server: how long they may be idle, and how broken requests are answered.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What Node itself answers to broken requests when there is no `clientError` listener. */
const ANSWERS: Readonly<Record<string, string | undefined>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large'
};

/** Newer versions of Node refuse requests with more header names and values themselves; older ones do not show all of them. */
const MOST_HEADER_TEXTS = 2_000;

/** A connection over TLS counts once it is secure. */
export function connectionEvent(server: Server): 'connection' | 'secureConnection' {
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
    const reply = replyUnderWay(socket);
    // What follows the last request of a connection is not read as a request, so it may be anything.
    if (reply?.shouldKeepAlive === false && reply.req.complete) return;
    if (socket.writable && reply?.headersSent !== true)
      socket.write(`HTTP/1.1 ${ANSWERS[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    socket.destroy(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? undefined : error);
  };
}

/** Whether a request has more headers than newer versions of Node take. Older ones may hide the header that says where the body ends. */
export function hasTooManyHeaders({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length > MOST_HEADER_TEXTS;
}

/** Refuses such a request, and ends its connection, as newer versions of Node do. */
export function refuseHeaders(server: Server, socket: Duplex): void {
  const error = Object.assign(new Error('Parse Error: Header overflow'), { code: 'HPE_HEADER_OVERFLOW' });
  // At a request with `Upgrade` the server's own listeners have left the socket.
  socket.on('error', () => undefined);
  if (!server.emit('clientError', error, socket)) socket.destroy(error);
}

/** Whether a reply to an earlier request has yet to be sent. */
export function isReplyDue(socket: Duplex): boolean {
  return replyUnderWay(socket) !== undefined;
}

/**
 * The reply whose turn it is on the connection; replies to later requests wait for its `finish`. Node has no public property for it, and
 * itself checks this one before the next reply gets the connection (ERR_HTTP_SOCKET_ASSIGNED).
 */
export function replyUnderWay(socket: Duplex): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}
