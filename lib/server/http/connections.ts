// The connections of the node's HTTP server: how long they may be idle, how broken requests are answered, and how they end when the node
// stops.

import { ReplaySubject, type Observable } from 'rxjs';
import { Handshakes } from '../bounds/handshakes';
import { Idlest } from '../bounds/idlest';
import { PipelinedRequests } from './pipelined';
import { isReplyDue, isRequestWhole, replyUnderWay } from './under-way';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What Node itself answers to broken requests when there is no `clientError` listener. */
const ANSWERS: Readonly<Record<string, string | undefined>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large'
};

/** A connection over TLS counts once it is secure. */
export function connectionEvent(server: Server): 'connection' | 'secureConnection' {
  return 'setSecureContext' in server ? 'secureConnection' : 'connection';
}

/** Connections of the server at a time. */
const MOST_CONNECTIONS = 10_000;

/** Connections of all protocols for each one of HTTP. */
const ALL_SHARE = 1.5;

/** The share of the descriptors that the system gives to the process. Files of the stores, peers and wallets need the others. */
const DESCRIPTORS_SHARE = 0.5;

/** How often it is checked whether the server still listens: it emits no event when it begins to close. */
const CHECK_MS = 50;

/**
 * Cuts off connections on which no request, or only part of one, comes within the inactivity timeout (`rpctimeout`), as Bitcoin
 * Core does. Node would wait for more than a minute and end them with an error, which bcoin logs with a stack.
 *
 * While there are as many as there may be, the one whose last request is longest ago makes room for a new one.
 *
 * A server that closes waits for its connections, and the node for the server. Then connections without a reply to come are cut off at
 * once, and all others when `closingMs` are over.
 */
export class Connections {
  readonly #server: Server;
  readonly #timeoutMs: number;
  readonly #closingMs: number;
  readonly #most: number;
  /** Connections that were ended to make room for others. */
  madeRoom = 0;
  /** Connections that were refused because nobody could make room. */
  refused = 0;
  /** Emits when the server has begun to close. */
  readonly closing$: Observable<void>;
  readonly #closing = new ReplaySubject<void>(1);
  /** All connections; those over TLS may not be secure yet. */
  readonly #all = new Set<Socket>();
  /** Connections over which HTTP is spoken, each with the number of its last request. */
  readonly #clients = new Map<Socket, number>();
  #requests = 0;
  readonly #pipelined = new PipelinedRequests();
  readonly #idlest = new Idlest<Socket>(
    () => this.#clients.keys(),
    (client) => (isRequestWhole(client) ? undefined : this.#clients.get(client))
  );
  /** Undefined for a server without TLS. */
  readonly #handshakes: Handshakes | undefined;
  #watch: NodeJS.Timeout | undefined;
  /** Connections without a request so far. After the first reply Node itself waits for the next request. */
  readonly #silent = new WeakSet<Duplex>();
  #keepAliveBefore: number | undefined;

  /**
   * `timeoutMs`: how long a connection may be idle before the first request and between requests. `closingMs`: how long clients have to
   * read their replies once the server closes. `most`: connections at a time.
   */
  constructor(server: Server, timeoutMs: number, closingMs: number, most = mostConnections()) {
    this.#server = server;
    this.#timeoutMs = timeoutMs;
    this.#closingMs = closingMs;
    this.#most = most;
    this.#handshakes = connectionEvent(server) === 'connection' ? undefined : new Handshakes();
    this.closing$ = this.#closing.asObservable();
  }

  get size(): number {
    return this.#clients.size;
  }

  /** TLS handshakes that were cut off to make room. */
  get cutOffHandshakes(): number {
    return this.#handshakes?.cutOff ?? 0;
  }

  /** Until `close`, the keep-alive timeout and the bound of connections hold for the whole server, the node's own clients included. */
  open(): void {
    const server = this.#server;
    server.on('connection', this.#accept);
    server.on(connectionEvent(server), this.#begin);
    server.on('clientError', this.#end);
    if (server.listening) this.#startWatch();
    else server.once('listening', this.#startWatch);
    // Set on the server: a timeout set per request would also cut off the node's own calls.
    this.#keepAliveBefore = server.keepAliveTimeout;
    server.keepAliveTimeout = this.#timeoutMs;
    // Also counts those that went on in another protocol, the node's own included.
    server.maxConnections = Math.ceil(this.#most * ALL_SHARE);
  }

  /** Connections stay open. */
  close(): void {
    if (this.#keepAliveBefore === undefined) return;
    const server = this.#server;
    clearInterval(this.#watch);
    server.off('listening', this.#startWatch);
    server.off('connection', this.#accept);
    server.off(connectionEvent(server), this.#begin);
    server.off('clientError', this.#end);
    server.keepAliveTimeout = this.#keepAliveBefore;
    server.maxConnections = Infinity;
    this.#keepAliveBefore = undefined;
  }

  /** To be called for every request: the connection is no longer silent. */
  requestCame(socket: Socket): void {
    if (this.#silent.delete(socket)) socket.setTimeout(0);
    if (this.#clients.has(socket)) this.#clients.set(socket, ++this.#requests);
  }

  /** To be called for a request that came before the reply to an earlier one was sent. */
  requestWaits(socket: Socket, response: ServerResponse): void {
    this.#pipelined.add(socket, response);
  }

  /** To be called when a connection goes on in another protocol, whose sessions end it. */
  upgraded(socket: Socket): void {
    this.#clients.delete(socket);
  }

  readonly #accept = (socket: Socket): void => {
    // A connection that stays with HTTP although a request asked for another protocol is announced again.
    if (this.#all.has(socket)) return;
    this.#all.add(socket);
    this.#handshakes?.begin(socket);
    socket.once('close', () => {
      this.#all.delete(socket);
      this.#clients.delete(socket);
    });
  };

  readonly #startWatch = (): void => {
    this.#watch = setInterval(() => {
      if (!this.#server.listening) this.#beginToClose();
    }, CHECK_MS).unref();
  };

  #beginToClose(): void {
    clearInterval(this.#watch);
    this.#closing.next();
    for (const client of this.#clients.keys()) if (!isReplyDue(client)) client.destroy();
    this.#watch = setTimeout(() => {
      for (const socket of this.#all) socket.destroy();
    }, this.#closingMs).unref();
  }

  readonly #begin = (socket: Socket): void => {
    this.#handshakes?.end(socket);
    if (this.#clients.size >= this.#most && !this.#makeRoom()) {
      this.refused++;
      socket.destroy();
      return;
    }
    this.#clients.set(socket, ++this.#requests);
    // A connection over TLS has a socket of its own.
    if (!this.#all.has(socket))
      socket.once('close', () => {
        this.#clients.delete(socket);
      });
    this.#silent.add(socket);
    socket.setTimeout(this.#timeoutMs);
  };

  /** Ends the connection whose last request is longest ago; false if whole requests wait for replies on all of them. */
  #makeRoom(): boolean {
    const client = this.#idlest.next();
    if (client === undefined) return false;
    this.#clients.delete(client);
    this.madeRoom++;
    client.destroy();
    return true;
  }

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

/** Undefined: not looked up yet. */
let affordable: number | undefined;

/** As many connections as leave enough descriptors. Looked up once in a process: making the report takes milliseconds. */
const mostConnections = (): number => (affordable ??= connectionsWithin(mostDescriptors()));

const connectionsWithin = (descriptors: number): number =>
  Number.isNaN(descriptors) ? MOST_CONNECTIONS : Math.min(MOST_CONNECTIONS, Math.floor(descriptors * DESCRIPTORS_SHARE));

/** How many descriptors the process may have open; NaN: there is no limit, or it is not known. */
function mostDescriptors(): number {
  const { report } = process as { report: { excludeNetwork?: boolean; getReport(): object } };
  const { excludeNetwork = false } = report;
  // Otherwise the report looks up the names of addresses.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } } };
  report.excludeNetwork = excludeNetwork;
  return Number(userLimits?.open_files?.soft);
}
