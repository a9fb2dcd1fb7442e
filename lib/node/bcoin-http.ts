// The HTTP server of a bcoin node, and its API key.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import { messageOf } from '../turns/error-text';
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
    // timingSafeEqual needs texts of one length: digests.
    return timingSafeEqual(sha256(key), sha256(this.#host.http.options.apiKey));
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
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
const CLIENT_MESSAGE = /^(?:HttpParser execute failure|Parse Error)/;

/** bcoin logs each broken connection as an error with its stack: any client could fill the disk with them. */
function logBrokenConnections({ http, logger }: Pick<HostNode, 'http' | 'logger'>): void {
  const others = http.listeners('error');
  http.removeAllListeners('error');
  http.on('error', (error) => {
    if (isOfClient(error)) logger.debug('A connection broke: %s.', messageOf(error));
    else for (const other of others) other.call(http, error);
  });
}

function isOfClient(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return CLIENT_CODE.test(code) || CLIENT_MESSAGE.test(error.message);
}
