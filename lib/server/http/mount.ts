// Takes some requests over from the listeners of the node's HTTP server, and leaves all others to these listeners untouched.
// The node adds its listener when its server opens, after its plugins, so the listeners are swapped when the server listens.

import { detailsOf } from '../../system/error-text';
import { onArrival } from './arrivals';
import { hasBody } from './body';
import { faultOf, handOverAll, refuse } from './refused';
import { boundUnauthenticated } from './unauthenticated';
import { isReplyDue, replyUnderWay } from './under-way';
import { decideUpgrades, servePlainly } from './upgrades';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connections } from './connections';

/** Serves a request that was taken. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

/** Whether a request is taken, by its method, target and headers. */
export type Takes = (request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>) => boolean;

/** Continues with a connection in another protocol. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Whether a target is under a prefix: for `/rest` these are `/rest`, `/rest/...` and `/rest?...`. */
export function isUnder(prefix: string, url: string): boolean {
  if (!url.startsWith(prefix)) return false;
  const next = url[prefix.length];
  return next === undefined || next === '/' || next === '?';
}

/** The scheme and host of a target in absolute-form. */
const AUTHORITY = /^https?:\/\/[^/?]*/i;

/** A target as a path: servers must accept the absolute-form that clients send to proxies (RFC 9112, 3.2.2). Others are left as they are. */
export function pathOf(url: string): string {
  const path = url.startsWith('/') ? url : url.replace(AUTHORITY, '');
  return path === '' || path.startsWith('?') ? `/${path}` : path;
}

/** Takes requests of every method under a prefix. */
export const under =
  (prefix: string): Takes =>
  ({ url = '' }) =>
    isUnder(prefix, url);

export interface MountParts {
  readonly server: Server;
  readonly takes: Takes;
  readonly handler: Handler;
  /** The target of a request of a connection, for a path; undefined: the path itself. */
  readonly targetOf?: ((socket: Duplex, path: string) => string) | undefined;
  /** For requests that ask for WebSocket. Others, and those that come while an earlier reply is due, are served as plain HTTP. */
  readonly upgrade?: { readonly takes: Takes; readonly listener: UpgradeListener };
  /** Whether the node's own listeners, to whom a connection went with another protocol, know its client. */
  readonly isAuthenticated: (socket: Socket) => boolean;
  /** The server's connections, which are told of every request. */
  readonly connections: Pick<Connections, 'requestCame' | 'requestWaits' | 'upgraded'>;
  readonly logger: { error(message: string): void };
}

export class Mount {
  readonly #parts: MountParts;
  #others: RequestListener[] = [];
  #otherUpgrades: UpgradeListener[] = [];
  #tookOver = false;
  /** What puts the server's own ways back. */
  #putBack: readonly (() => void)[] = [];
  /** The request that Node will hand over next, if it has both `Upgrade` and a body. */
  #withBody: IncomingMessage | undefined;
  /** Connections whose last request came. */
  readonly #ending = new WeakSet<Duplex>();

  constructor(parts: MountParts) {
    this.#parts = parts;
  }

  /** Puts itself before the node's listeners once the server listens, when all of these are there. */
  open(): void {
    const { server } = this.#parts;
    if (server.listening) this.#takeOver();
    else server.once('listening', this.#takeOver);
  }

  /** Puts the node's listeners back. */
  close(): void {
    const { server } = this.#parts;
    server.removeListener('listening', this.#takeOver);
    if (!this.#tookOver) return;
    this.#tookOver = false;
    server.removeListener('request', this.#dispatch);
    for (const other of this.#others) server.on('request', other);
    server.removeListener('upgrade', this.#dispatchUpgrade);
    for (const other of this.#otherUpgrades) server.on('upgrade', other);
    for (const putBack of this.#putBack) putBack();
  }

  readonly #takeOver = (): void => {
    const { server } = this.#parts;
    this.#tookOver = true;
    this.#others = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', this.#dispatch);
    this.#otherUpgrades = server.listeners('upgrade') as UpgradeListener[];
    server.removeAllListeners('upgrade');
    server.on('upgrade', this.#dispatchUpgrade);
    this.#putBack = [decideUpgrades(server, this.#isHandedOver), handOverAll(server, this.#dispatch)];
  };

  readonly #dispatch = (request: IncomingMessage, response: ServerResponse): void => {
    const { connections } = this.#parts;
    const { socket } = request;
    // Node still reads requests after a reply that ends the connection, and after the client has gone. It throws if such
    // a request is answered before a pending one (state.incoming, _http_server.js).
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    if (this.#ending.has(socket)) return;
    const fault = faultOf(request);
    if (fault !== undefined) {
      refuse(this.#parts.server, socket, fault);
      return;
    }
    if (request === this.#withBody) {
      this.#withBody = undefined;
      this.#ending.add(socket);
      response.shouldKeepAlive = false;
    }
    if (request.headers['transfer-encoding'] !== undefined) endUnread(request, response);
    connections.requestCame(socket);
    const due = replyUnderWay(socket);
    if (due !== undefined && due !== response) connections.requestWaits(socket, response);
    const isTaken = this.#takes(request);
    onArrival(socket, () => {
      if (socket.destroyed) return;
      if (isTaken) this.#serve(request, response);
      else this.#passOn(request, response);
    });
  };

  /** Whether the request is taken. If so, its target becomes a path. */
  #takes(request: IncomingMessage): boolean {
    const { method, url = '', headers, socket } = request;
    const path = this.#parts.targetOf?.(socket, pathOf(url)) ?? pathOf(url);
    const isTaken = this.#parts.takes({ method, url: path, headers });
    if (isTaken) request.url = path;
    return isTaken;
  }

  /** Hands a request to the node's own listeners. */
  #passOn(request: IncomingMessage, response: ServerResponse): void {
    for (const other of this.#others) other.call(this.#parts.server, request, response);
  }

  /** No error of a request may end the node's process. */
  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { handler, logger } = this.#parts;
    const breakOff = (error: unknown): void => {
      logger.error(`request failed: ${detailsOf(error)}`);
      request.socket.destroy();
    };
    try {
      handler(request, response).catch(breakOff);
    } catch (error) {
      breakOff(error);
    }
  }

  /**
   * Node serves a request with a body as plain HTTP itself, since from version 26 the connection is handed over with the body half read.
   * It drops the bytes that came with the end of the body, so that the connection cannot be used any further.
   */
  readonly #isHandedOver = (request: IncomingMessage): boolean => {
    if (!hasBody(request)) return true;
    this.#withBody = request;
    return false;
  };

  /** Without an `upgrade` listener Node would continue in HTTP too, but drop the bytes after the request. */
  readonly #dispatchUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { server, connections, upgrade, isAuthenticated } = this.#parts;
    const fault = faultOf(request);
    if (fault !== undefined) {
      refuse(server, socket, fault);
      return;
    }
    const isTaken = this.#takes(request);
    // Only older versions of Node get here with a body, which has not been read.
    const isPlain = hasBody(request);
    if (!isPlain && isTaken && upgrade?.takes(request) === true && asksForWebSocket(request) && !isReplyDue(socket)) {
      connections.requestCame(request.socket);
      connections.upgraded(request.socket);
      upgrade.listener(request, socket, head);
      return;
    }
    if (isPlain || this.#otherUpgrades.length === 0 || isTaken) {
      servePlainly(server, request, socket, head);
      return;
    }
    const ofServer = request.socket;
    connections.requestCame(ofServer);
    boundUnauthenticated(
      ofServer,
      head.length,
      () => isAuthenticated(ofServer),
      () => {
        connections.upgraded(ofServer);
      }
    );
    if (!socket.destroyed) for (const other of this.#otherUpgrades) other.call(server, request, socket, head);
  };
}

/**
 * Ends the connection after the reply to a request whose body nobody has read. Otherwise Node takes the body off the connection for as long as
 * it comes, and each piece, which may be a single byte, costs some time.
 */
function endUnread(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    // What has come with the headers is still being read.
    setImmediate(() => {
      if (!request.complete && request.listenerCount('data') === 0) request.socket.destroy();
    });
  });
}

function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}
