// The HTTP server of a bcoin node, and its API key.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { HostHttp, HostNode } from './host';
import type { HttpHost } from './types';

export class BcoinHttp implements HttpHost {
  readonly server: Server;
  readonly #host: Pick<HostNode, 'http' | 'uptime'>;

  constructor(host: Pick<HostNode, 'http' | 'uptime'>) {
    this.#host = host;
    this.server = host.http.http;
    outliveBrokenRequests(host.http);
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
 * When a request to bcoin's own interface breaks off, bcoin's object for it (bweb) emits a second error that has no listener: on
 * Node.js 16 and later that ends the process. A client that leaves during a GET with a body is enough, and needs no key.
 * bcoin logs the error as before.
 */
function outliveBrokenRequests(http: HostHttp): void {
  http.on('request', (request) => {
    request.on('error', () => undefined);
  });
}
