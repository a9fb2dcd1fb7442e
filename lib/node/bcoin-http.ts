// The HTTP server of a bcoin node, and its API key.

import { messageOf } from '../system/error-text';
import { isSecret } from '../system/secrets';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HostHttp, HostNode } from './host';
import type { HttpHost } from './types/http-host';

export class BcoinHttp implements HttpHost {
  readonly server: Server;
  readonly #host: Pick<HostNode, 'http' | 'uptime'>;

  /** Of a node that is not open yet, or is. */
  constructor(host: Pick<HostNode, 'http' | 'uptime' | 'logger'>) {
    this.#host = host;
    this.server = host.http.http;
    outliveBrokenRequests(host.http);
    logBrokenConnections(host);
  }

  get needsApiKey(): boolean {
    return !this.#host.http.options.noAuth;
  }

  get uptime(): number {
    return this.#host.uptime();
  }

  isApiKey(key: string): boolean {
    return isSecret(key, this.#host.http.options.apiKey);
  }

  /** bcoin knows its clients by address and port. */
  isAuthenticated({ remoteAddress, remotePort }: Socket): boolean {
    for (const { host, port } of this.#host.http.channel('auth') ?? []) if (host === remoteAddress && port === remotePort) return true;
    return false;
  }
}

/**
 * When a request to bcoin's own interface breaks off, bcoin's object for it (bweb) emits a second error that has no listener, which ends
 * the process. A client that leaves during a GET with a body is enough, and needs no key.
 */
function outliveBrokenRequests(http: HostHttp): void {
  http.on('request', (request) => {
    request.on('error', () => undefined);
  });
}

/** What a client does to its connection: errors of sockets, of Node's HTTP parser, and bweb's words for these. */
const CLIENT_CODE = /^(?:ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|HPE_\w+)$/;
const CLIENT_MESSAGE = /^(?:HttpParser execute failure|Parse Error|Websocket Closed)/;

/**
 * bcoin logs each broken connection as an error with its stack, and each message over its WebSocket that makes no sense: any client could
 * fill the disk with them.
 */
function logBrokenConnections({ http, logger }: Pick<HostNode, 'http' | 'logger'>): void {
  /** Of clients of the WebSocket that have not shown the key. */
  const ofUnknown = new WeakSet<Error>();
  http.on('socket', (client) => {
    client.prependListener('error', (error) => {
      if (!client.channel('auth')) ofUnknown.add(error);
    });
  });
  const others = http.listeners('error');
  http.removeAllListeners('error');
  http.on('error', (error) => {
    if (ofUnknown.has(error) || isOfClient(error)) logger.debug('The connection of a client failed: %s.', messageOf(error));
    else for (const other of others) other.call(http, error);
  });
}

function isOfClient(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return CLIENT_CODE.test(code) || CLIENT_MESSAGE.test(error.message);
}
