// The HTTP server of a reader, and its API key.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { CLOSING_MS } from '../../lib/server/limits';
import { textOf } from '../../lib/server/ports/listener';
import { messageOf } from '../../lib/system/error-text';
import { isSecret } from '../../lib/system/secrets';
import { OptionError } from '../options/errors';
import type { HttpHost } from '../../lib/node/types/http-host';

const KEY_BYTES = 32;

const NOT_FOUND = 'Not found.\n';

export interface ReaderHttpOptions {
  readonly host: string;
  readonly port: number;
  /** undefined: nobody knows it. */
  readonly apiKey: string | undefined;
  /** Whether it asks for the key. */
  readonly needsApiKey: boolean;
}

export class ReaderHttp implements HttpHost {
  readonly server: Server = createServer();
  readonly needsApiKey: boolean;
  readonly #options: ReaderHttpOptions;
  readonly #key: string;
  #openedAt = performance.now();

  constructor(options: ReaderHttpOptions) {
    this.#options = options;
    // What no interface takes.
    this.server.on('request', (_, response) => {
      response.writeHead(404, { 'Content-Type': 'text/plain', 'Content-Length': NOT_FOUND.length }).end(NOT_FOUND);
    });
    this.needsApiKey = options.needsApiKey;
    this.#key = options.apiKey ?? randomBytes(KEY_BYTES).toString('hex');
  }

  get uptime(): number {
    return Math.floor((performance.now() - this.#openedAt) / 1_000);
  }

  isApiKey(key: string): boolean {
    return isSecret(key, this.#key);
  }

  /** It has no protocol of its own. */
  isAuthenticated(): boolean {
    return false;
  }

  /** @throws OptionError when the port cannot be used */
  async open(): Promise<void> {
    const { host, port } = this.#options;
    this.#openedAt = performance.now();
    this.server.listen(port, host);
    try {
      await once(this.server, 'listening');
    } catch (error) {
      const place = textOf(this.#options);
      throw new OptionError(`--http-host, --http-port: the reader cannot listen on ${place}: ${messageOf(error)}`, { cause: error });
    }
    // Emitted when a connection cannot be accepted; later ones may be.
    this.server.on('error', () => undefined);
  }

  /** Takes no further connections; those that there are get some time for their replies. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const patience = setTimeout(() => {
      this.server.closeAllConnections();
    }, CLOSING_MS);
    await new Promise<void>((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
    clearTimeout(patience);
  }
}
