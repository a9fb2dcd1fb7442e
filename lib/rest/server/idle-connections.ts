// Connections on which nothing comes, or not all of a request: cut off after the inactivity
// timeout (`rpctimeout`), as in Bitcoin Core. Node would wait for a minute and more, and
// end them with an error, which bcoin writes into its log with a stack.

import { connectionEvent } from './plain-upgrade';
import { replyUnderWay } from './reply-under-way';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What Node says to broken requests unless somebody else does. */
const ANSWERS: Readonly<Record<string, string | undefined>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large'
};

export class IdleConnections {
  readonly #server: Server;
  readonly #timeoutMs: number;
  /** No request has come yet. From the first reply on Node waits for the next request by itself. */
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

  /** From here on it is not the client who lets others wait. */
  requestCame(socket: Socket): void {
    if (this.#silent.delete(socket)) socket.setTimeout(0);
  }

  readonly #begin = (socket: Socket): void => {
    this.#silent.add(socket);
    socket.setTimeout(this.#timeoutMs);
  };

  /** As Node does it, but for those that took too long for a request as a whole: they leave no error behind. */
  readonly #end = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const { code = '' } = error;
    if (socket.writable && replyUnderWay(socket)?.headersSent !== true) socket.write(`HTTP/1.1 ${ANSWERS[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    socket.destroy(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? undefined : error);
  };
}
