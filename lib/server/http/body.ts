// Reads request bodies within limits of size, time and memory.
// Why this is not raw-body: docs/decisions/bodies.md.

import { ClientGoneError } from '../../turns/client';
import { Collected } from '../bounds/collected';
import { bodyTooLarge, encodedBody } from '../errors';
import type { IncomingMessage } from 'node:http';
import type { Unfinished } from '../bounds/unfinished';
import type { Limits } from '../limits';

/** The body of a request that has none. */
export const NO_BODY = Buffer.alloc(0);

/** A client that sends more pieces than this is cut off if they are shorter than `SHORT_BYTES` on average. */
const MOST_PIECES = 10_000;
const SHORT_BYTES = 64;

export interface BodyLimits extends Pick<Limits, 'maxBodyBytes' | 'timeoutMs'> {
  readonly unfinished: Unfinished;
  /** Whether the client may use all the memory that there is for unfinished messages. */
  readonly isTrusted?: boolean;
}

/** False when the request's headers announce no body (RFC 9112, 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/**
 * The whole body. A client that stops sending is cut off, and so is one that sends it in thousands of tiny pieces.
 * @throws HttpError 413, 415; ClientGoneError if the body breaks off
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { headers } = request;
  const encoding = headers['content-encoding'] ?? '';
  // Node drops a body that nobody has read when the reply is sent.
  if (encoding !== '' && encoding.toLowerCase() !== 'identity' && hasBody(request)) return Promise.reject(encodedBody());
  return new Promise((resolve, reject) => {
    const body = new BodyReader(request, limits, resolve, reject);
    body.start();
  });
}

class BodyReader {
  readonly #request: IncomingMessage;
  readonly #limits: BodyLimits;
  readonly #resolve: (body: Buffer) => void;
  readonly #reject: (error: Error) => void;
  /** As announced; NaN for a chunked body. */
  readonly #announced: number;
  readonly #body: Collected;
  /** The body, if it came in one piece. */
  #whole: Buffer | undefined;
  #bytes = 0;
  #pieces = 0;

  constructor(request: IncomingMessage, limits: BodyLimits, resolve: (body: Buffer) => void, reject: (error: Error) => void) {
    this.#request = request;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#announced = Number(request.headers['content-length'] ?? NaN);
    this.#body = new Collected(Math.min(limits.maxBodyBytes, Number.isNaN(this.#announced) ? Infinity : this.#announced));
  }

  start(): void {
    const request = this.#request;
    const { socket } = request;
    const { maxBodyBytes, timeoutMs, unfinished, isTrusted } = this.#limits;
    if (request.destroyed) {
      this.#reject(gone());
      return;
    }
    const message = unfinished.openFor(request, () => socket.destroy(), isTrusted);
    const end = (): void => {
      clearTimeout(patience);
      message.set(0);
      this.#reject(gone());
    };
    const cutOff = (): void => {
      if (!socket.destroyed) unfinished.stalled++;
      socket.destroy();
      // Once a request was answered, Node no longer tells it that its connection closes.
      end();
    };
    // The socket's own timeout may be in use for a reply that waits to be read.
    const patience = setTimeout(cutOff, timeoutMs);
    // The rest of a body that is too long has to be taken off the connection: some clients read no reply before they have sent everything.
    let isTooLong = this.#announced > maxBodyBytes;
    if (isTooLong) this.#reject(bodyTooLarge(maxBodyBytes));
    request.on('data', (piece: Buffer) => {
      patience.refresh();
      this.#bytes += piece.length;
      if (++this.#pieces > MOST_PIECES && this.#bytes < this.#pieces * SHORT_BYTES) {
        cutOff();
        return;
      }
      if (isTooLong) return;
      isTooLong = this.#bytes > maxBodyBytes;
      if (isTooLong) {
        this.#reject(bodyTooLarge(maxBodyBytes));
        this.#body.take();
      } else if (piece.length === this.#announced) this.#whole = piece;
      else this.#body.append(piece);
      message.set(this.#body.memoryBytes);
    });
    request.once('end', () => {
      this.#resolve(this.#whole ?? this.#body.take());
    });
    request.on('error', () => undefined);
    // Comes after `end`, too.
    request.once('close', end);
  }
}

const gone = (): ClientGoneError => new ClientGoneError('the client left before the end of its request');
