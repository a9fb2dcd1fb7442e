// Errors of every interface over HTTP, with Bitcoin Core's status and text. An error without a message has no body at all.

import { backfillText } from '../index/progress/text';
import type { BackfillProgress } from '../index/types';

/** Names and values alternate, as `writeHead` takes them. */
export type HeaderList = readonly string[];

/** A reply that is not a success. The message goes to the client as it is. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly status: number,
    message: string,
    readonly headers: HeaderList = [],
    options?: ErrorOptions
  ) {
    super(message, options);
  }
}

/** After how many seconds clients should ask again; in replies with 503 that do not say it themselves (RFC 9110, 10.2.3). */
export const RETRY_AFTER = ['Retry-After', '5'] as const;

/** The headers of an error. `status`: as it is sent. */
export const errorHeaders = ({ headers }: Pick<HttpError, 'headers'>, status: number): HeaderList =>
  status === 503 && !headers.includes(RETRY_AFTER[0]) ? [...headers, ...RETRY_AFTER] : headers;

/** Sent with the status that the profile gives. */
export class QueueFullError extends HttpError {}

/** Index or node cannot answer now. */
export class UnavailableError extends HttpError {
  /** `what`: what is happening that prevents an answer. */
  constructor(readonly what: string) {
    super(503, `Service temporarily unavailable: ${what}`);
  }
}

/** `status`: what is happening that prevents an answer. */
export const unavailable = (status: string): UnavailableError => new UnavailableError(status);

/** The index cannot answer until the backfill gets there. `progress`: how far the backfill is. */
export const notYetKnown = (progress: BackfillProgress): UnavailableError =>
  unavailable(`transaction index is being built: ${backfillText(progress)}`);

/** The node's chain is being reorganized or reset, and has dropped a block that the index still has. */
export const chainMoving = (): UnavailableError => unavailable('the chain is moving');

export const queueFull = (): HttpError => new QueueFullError(500, 'Work queue depth exceeded');

/** Something broke; the log says what. */
export const brokenDown = (): HttpError => new HttpError(500, 'Internal error; the log of the node has details');

export const bodyTooLarge = (mostBytes: number): HttpError => new HttpError(413, `Request body too large (max: ${mostBytes} bytes)`);

export const encodedBody = (): HttpError => new HttpError(415, 'A body without Content-Encoding expected', ['Accept-Encoding', 'identity']);

export const unauthorized = (): HttpError =>
  new HttpError(401, 'The API key of the node is needed as password', ['WWW-Authenticate', 'Basic realm="rest"']);

/** No endpoint has a prefix of this path. Bitcoin Core's reply is empty, but NBitcoin cuts two bytes off the end of every error text. */
export const noSuchPath = (): HttpError => new HttpError(404, 'Not found');

export const methodNotAllowed = (): HttpError => new HttpError(405, '', ['Allow', 'GET, HEAD, POST, PUT']);

/** `status`: 405 or 501. */
export const unknownMethod = (status: number): HttpError => (status === 405 ? methodNotAllowed() : new HttpError(status, ''));
