// Takes some requests over from the listeners of the node's HTTP server, and leaves
// everything else to them, untouched. The node adds its listener when its server opens, after
// its plugins: the swap is made when the server listens.

import { isReplyDue, servePlainly, type IdleConnections } from './connections';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Hands a request to those from whom it was taken. */
export type PassOn = (request: IncomingMessage, response: ServerResponse) => void;

/** Serves a request that was taken, or passes it on after all. */
export type Handler = (request: IncomingMessage, response: ServerResponse, passOn: PassOn) => Promise<unknown>;

/** Whether a request is taken, by its method and target. */
export type Takes = (request: Pick<IncomingMessage, 'method' | 'url'>) => boolean;

/** Goes on with a connection in another protocol. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** For `/rest`: `/rest`, `/rest/...` and `/rest?...`. */
export function isUnder(prefix: string, url: string): boolean {
  if (!url.startsWith(prefix)) return false;
  const next = url[prefix.length];
  return next === undefined || next === '/' || next === '?';
}

/** What lies under a prefix, whatever the method. */
export const under =
  (prefix: string): Takes =>
  ({ url = '' }) =>
    isUnder(prefix, url);

export interface MountParts {
  readonly server: Server;
  readonly takes: Takes;
  readonly handler: Handler;
  /** For requests that ask for WebSocket; unless given, what is taken is HTTP. Those behind a reply that is due are HTTP too. */
  readonly upgrade?: UpgradeListener;
  /** The server's; told of every request. */
  readonly connections: Pick<IdleConnections, 'requestCame'>;
  readonly logger: { error(message: string): void };
}

export class Mount {
  readonly #parts: MountParts;
  #others: RequestListener[] = [];
  #otherUpgrades: UpgradeListener[] = [];
  #tookOver = false;

  constructor(parts: MountParts) {
    this.#parts = parts;
  }

  open(): void {
    const { server } = this.#parts;
    if (server.listening) this.#takeOver();
    else server.once('listening', this.#takeOver);
  }

  /** Puts everything back. The mount that was opened last is closed first. */
  close(): void {
    const { server } = this.#parts;
    server.removeListener('listening', this.#takeOver);
    if (!this.#tookOver) return;
    this.#tookOver = false;
    server.removeListener('request', this.#dispatch);
    for (const other of this.#others) server.on('request', other);
    server.removeListener('upgrade', this.#dispatchUpgrade);
    for (const other of this.#otherUpgrades) server.on('upgrade', other);
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
  };

  readonly #dispatch = (request: IncomingMessage, response: ServerResponse): void => {
    const { takes, connections } = this.#parts;
    const { socket } = request;
    // Node reads on behind a reply that ends the connection, and when the client has gone. It throws when
    // something that it reads then is answered before what was pending (state.incoming, _http_server.js).
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    connections.requestCame(socket);
    if (takes(request)) this.#serve(request, response);
    else this.#passOn(request, response);
  };

  readonly #passOn: PassOn = (request, response) => {
    for (const other of this.#others) other.call(this.#parts.server, request, response);
  };

  /** Nothing that a request brings about ends the node. */
  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { handler, logger } = this.#parts;
    const breakOff = (error: unknown): void => {
      logger.error(`request failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      request.socket.destroy();
    };
    try {
      handler(request, response, this.#passOn).catch(breakOff);
    } catch (error) {
      breakOff(error);
    }
  }

  /** When nobody listens Node goes on in HTTP too, but loses what came behind the request. */
  readonly #dispatchUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { server, takes, connections, upgrade } = this.#parts;
    if (upgrade !== undefined && takes(request) && asksForWebSocket(request) && !isReplyDue(socket)) {
      connections.requestCame(request.socket);
      upgrade(request, socket, head);
      return;
    }
    if (this.#otherUpgrades.length === 0 || takes(request)) {
      servePlainly(server, request, socket, head);
      return;
    }
    connections.requestCame(request.socket);
    for (const other of this.#otherUpgrades) other.call(server, request, socket, head);
  };
}

function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}
