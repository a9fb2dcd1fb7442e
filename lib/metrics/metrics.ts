// Metrics and health on a port of their own (`--rest-metrics`). It observes the other parts, and nothing depends on it.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { filter, take, type Subscription } from 'rxjs';
import { cutOff, isReplyDue, replyUnderWay } from '../server/http/under-way';
import { faultOf, handOverAll, refuse } from '../server/http/refused';
import { textOf, type SocketAddress } from '../server/ports/listener';
import { detailsOf, messageOf } from '../system/error-text';
import { BlockTimes } from './block-times';
import { cacheFamilies } from './cache-families';
import { chainFamilies } from './chain-families';
import { clientFamilies } from './client-families';
import { fleetFamilies } from './fleet-families';
import { ALIVE, readinessOf } from './health';
import { registryOf } from './registry';
import { requestFamilies } from './request-families';
import type { AddressInfo, Socket } from 'node:net';
import type { Registry } from 'prom-client';
import type { Observed } from './observed';

/** Whoever watches needs few connections, and sends short requests. */
const MOST_CONNECTIONS = 50;
const MOST_HEADER_BYTES = 8_192;
const TIMEOUT_MS = 10_000;

export interface MetricsParts {
  readonly endpoint: SocketAddress;
  readonly observed: Observed;
  readonly logger: { info(message: string): void; error(message: string): void };
}

export class Metrics {
  readonly #parts: MetricsParts;
  readonly #blockTimes: BlockTimes;
  readonly #server: Server;
  /** Those with the latest requests last. */
  readonly #connections = new Set<Socket>();
  #registry: Registry | undefined;
  #following: Subscription | undefined;
  /** The text that is being written: all who ask meanwhile get it. */
  #writing: Promise<string> | undefined;

  constructor(parts: MetricsParts) {
    this.#parts = parts;
    const { serving, index, wallets } = parts.observed;
    const { node } = serving;
    const scripts = wallets && {
      state$: wallets.scripts.state$,
      passes: wallets.passes,
      hasListeners: () => wallets.tips.size + wallets.statuses.size + wallets.outpoints.size > 0 || wallets.push.hasListeners
    };
    this.#blockTimes = new BlockTimes({ node, index, scripts });
    this.#server = createServer({ maxHeaderSize: MOST_HEADER_BYTES, requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, this.#answer);
    this.#server.on('connection', this.#accept);
    handOverAll(this.#server, this.#answer);
  }

  /** @throws an error of the system when the port cannot be bound */
  async open(): Promise<void> {
    const { observed, endpoint, logger } = this.#parts;
    const blockTimes = this.#blockTimes;
    this.#registry = await registryOf([
      ...requestFamilies(observed),
      ...clientFamilies(observed, blockTimes),
      ...cacheFamilies(observed),
      ...chainFamilies(observed, blockTimes),
      ...fleetFamilies(observed)
    ]);
    this.#server.listen(endpoint);
    await once(this.#server, 'listening');
    // Emitted when a connection cannot be accepted; later ones may be.
    this.#server.on('error', () => undefined);
    blockTimes.open();
    // What the rehearsal has asked is nobody's request.
    this.#following = observed.serving.gate.ready$.pipe(filter(Boolean), take(1)).subscribe(() => {
      observed.times.clear();
    });
    logger.info(`Metrics are at http://${textOf({ ...endpoint, port: this.port })}/metrics.`);
  }

  /** The port that it listens on, while it is open. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#blockTimes.close();
    this.#following?.unsubscribe();
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  readonly #accept = (socket: Socket): void => {
    if (this.#connections.size === MOST_CONNECTIONS) this.#makeRoom();
    this.#connections.add(socket);
    socket.once('close', () => {
      this.#connections.delete(socket);
    });
  };

  /**
   * Ends the connection whose last request is longest ago: whoever watches is not kept out by clients that are silent. One whose reply is
   * under way goes only if all others have such a reply too, so that clients that do not read keep nobody out, either.
   */
  #makeRoom(): void {
    const all = [...this.#connections];
    const idlest = all.find((socket) => !isReplyDue(socket)) ?? all[0];
    if (idlest === undefined) return;
    this.#connections.delete(idlest);
    idlest.destroy();
  }

  readonly #answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const due = replyUnderWay(socket);
    // One read can hold thousands of requests, and nobody who watches asks before the reply to an earlier one has come.
    if (due !== undefined && due !== response) {
      cutOff(socket);
      return;
    }
    const fault = faultOf(request);
    if (fault !== undefined) {
      refuse(this.#server, socket, fault);
      return;
    }
    if (this.#connections.delete(socket)) this.#connections.add(socket);
    this.#reply(request, response).catch((error: unknown) => {
      this.#parts.logger.error(`metrics: ${detailsOf(error)}`);
      send(response, 500, messageOf(error));
    });
  };

  async #reply({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query] = url.split('?', 2);
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      send(response, 405, 'GET only');
      return;
    }
    switch (path) {
      case '/metrics':
        send(response, 200, await this.#text(), this.#registry?.contentType);
        return;
      case '/healthz':
        send(response, ALIVE.status, ALIVE.text);
        return;
      case '/readyz': {
        const { status, text } = readinessOf(this.#parts.observed, new URLSearchParams(query));
        send(response, status, text);
        return;
      }
      default:
        send(response, 404, '/metrics, /healthz and /readyz are here');
    }
  }

  #text(): Promise<string> {
    this.#writing ??= (this.#registry?.metrics() ?? Promise.resolve('')).finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }
}

function send(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  const body = type.startsWith('text/plain; charset') ? `${text}\n` : text;
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
