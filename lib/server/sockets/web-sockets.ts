// WebSocket on the node's HTTP server, for all paths that speak it. Pages of other origins than the server's own may connect only if
// they may also read Esplora's replies: browsers send the origin of a page, other clients send none.

import { STATUS_CODES, type IncomingMessage } from 'node:http';
import { WebSocketServer } from 'ws';
import { detailsOf } from '../../system/error-text';
import { brokenDown, errorHeaders, HttpError, unavailable } from '../errors';
import { requireApiKey } from '../http/auth';
import { isUnder, type Takes, type UpgradeListener } from '../http/mount';
import { Connection, MOST_VALUE_BYTES } from './connection';
import { FrameTransport } from './frame-transport';
import type { Socket } from 'node:net';
import type { HttpInterface, Middleware } from '../app';
import type { Serving } from '../serving';
import type { Sessions } from './sessions';

/** Fragments of one message: clients send a value in one or a few. */
const MOST_FRAGMENTS = 1_024;

/** Begins to serve a client that was admitted. `address`: its IP address. */
export type BeginOverWebSocket = (connection: Connection, address: string) => void;

export interface WebSocketsParts {
  readonly serving: Pick<Serving, 'host' | 'responses' | 'unfinished' | 'options' | 'logger' | 'proxies'>;
  readonly sessions: Pick<Sessions, 'admit'>;
  /** The protocol under each path. */
  readonly paths: Readonly<Record<string, BeginOverWebSocket>>;
  /** Why clients are refused; undefined while they are served. */
  readonly refusal: () => string | undefined;
  /** Origins whose pages may connect. */
  readonly origins: readonly string[] | '*' | undefined;
}

export class WebSockets implements HttpInterface {
  readonly #parts: WebSocketsParts;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // One message in each turn of the event loop: one read can hold ten thousand.
    allowSynchronousEvents: false,
    maxPayload: MOST_VALUE_BYTES,
    maxFragments: MOST_FRAGMENTS
  });

  constructor(parts: WebSocketsParts) {
    this.#parts = parts;
  }

  /** Whether a request is for one of the paths. */
  readonly takes: Takes = ({ url = '' }) => this.#beginUnder(url) !== undefined;

  /** Answers requests that do not ask for WebSocket. */
  readonly middleware: Middleware = ({ res }) => {
    const body = Buffer.from('Clients connect to this path with WebSocket');
    const headers = ['Upgrade', 'websocket', 'Content-Type', 'text/plain', 'Content-Length', String(body.length)];
    this.#parts.serving.responses.send(res, 426, headers, body);
    return Promise.resolve();
  };

  readonly upgrade: UpgradeListener = (request, socket, head) => {
    const { responses: outflow, unfinished, logger, proxies } = this.#parts.serving;
    const address = proxies.clientOf(request) ?? '';
    // After an error the socket is closed.
    socket.on('error', () => undefined);
    try {
      this.#requireWelcome(request);
    } catch (error) {
      if (!(error instanceof HttpError)) logger.error(`request failed: ${detailsOf(error)}`);
      this.#refuse(request.socket, error instanceof HttpError ? error : brokenDown());
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      // Requests with a body do not get here: the connection itself is handed over.
      const connection = new Connection(new FrameTransport(webSocket, request.socket, unfinished, address), request.socket, outflow);
      this.#beginUnder(request.url ?? '')?.(connection, address);
    });
  };

  /** Ends the connection with its reply: the client may keep its own side open for as long as it likes, or not read. */
  #refuse(socket: Socket, error: HttpError): void {
    const { slowReaders } = this.#parts.serving.responses;
    slowReaders.watch(socket);
    socket.once('close', () => slowReaders.unwatch(socket));
    socket.once('finish', () => socket.destroy());
    socket.end(replyOf(error));
    socket.resume();
  }

  #beginUnder(url: string): BeginOverWebSocket | undefined {
    return Object.entries(this.#parts.paths).find(([path]) => isUnder(path, url))?.[1];
  }

  /** @throws HttpError */
  #requireWelcome(request: IncomingMessage): void {
    const { refusal, origins, serving, sessions } = this.#parts;
    const { origin } = request.headers;
    if (origin !== undefined && origins !== '*' && origins?.includes(origin) !== true && !isOwnOrigin(origin, request))
      throw new HttpError(403, 'Pages of this origin may not connect');
    if (serving.options.auth) requireApiKey(request, serving.host);
    const reason = refusal();
    if (reason !== undefined) throw unavailable(reason);
    if (!sessions.admit(request.socket, serving.proxies.clientOf(request))) throw new HttpError(503, 'Too many clients');
  }
}

/** An error as a whole reply. */
function replyOf(error: HttpError): Buffer {
  const { status, message } = error;
  const headers = errorHeaders(error, status);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, 'Connection: close', 'Content-Type: text/plain'];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i] ?? ''}: ${headers[i + 1] ?? ''}`);
  const body = Buffer.from(message);
  return Buffer.concat([Buffer.from(`${[...lines, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

/** Whether a page comes from the host and port to which it connects. Its scheme is not known here: TLS may end in front of the node. */
function isOwnOrigin(origin: string, { headers: { host } }: IncomingMessage): boolean {
  const { groups } = /^https?:\/\/(?<host>[^/]+)$/i.exec(origin) ?? {};
  return host !== undefined && groups?.['host']?.toLowerCase() === host.toLowerCase();
}
