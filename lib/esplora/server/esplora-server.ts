// Takes requests over HTTP and replies to them. A request passes origins, route, gate, key, body, queue and the gate again, in this order;
// then the reply or the error is sent. Everything that bounds the work is REST's: gate, queue, replies on their way, cache for answers.

import { refusalOf } from '../../server/refusal';
import { ClientGoneError } from '../../turns/client';
import { errorHeaders, queueFull, QueueFullError, HttpError, type HeaderList } from '../../server/errors';
import { requireApiKey } from '../../server/http/auth';
import { hasBody, NO_BODY, readBody } from '../../server/http/body';
import { bodyTooLarge, historyTooLong, noSuchEndpoint, requestTimeout, tooManyCoins } from '../errors';
import { EsploraRequest, type Route } from '../endpoint';
import { originHeaders, PREFLIGHT, type Origins } from '../../server/http/cors';
import { Router, type Found } from './router';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpServing } from '../../server/serving';
import type { Handler } from '../../server/http/mount';
import type { EsploraReply } from '../reply';
import type { ScriptsGate } from '../../answers/scripts/gate';

/** Five years: for replies that cannot change. */
const LONG_SECONDS = 157_784_630;
const SHORT_SECONDS = 10;

const MOST_BODY_BYTES = 1_000_000;

/** How long after a request is refused with 408 its silent connection is cut off. */
const CUT_OFF_MS = 5_000;

export interface EsploraServerParts {
  readonly serving: HttpServing;
  readonly gate: ScriptsGate;
  /** The path of the interface, without a slash at its end. */
  readonly prefix: string;
  readonly routes: readonly Route[];
  readonly origins: Origins;
}

/** The route of a request, and its query. */
interface Target extends Found {
  readonly url: string;
  readonly query: string;
}

export class EsploraServer {
  readonly #parts: EsploraServerParts;
  readonly #router: Router;

  constructor(parts: EsploraServerParts) {
    this.#parts = parts;
    this.#router = new Router(parts.routes);
  }

  readonly handle: Handler = async (request, response) => {
    const {
      origins,
      serving: { responses }
    } = this.#parts;
    const headers = originHeaders(origins, request);
    try {
      if (request.method === 'OPTIONS' && origins !== undefined) {
        responses.send(response, 204, [...headers, ...PREFLIGHT], NO_BODY);
        return;
      }
      const reply = await this.#reply(request);
      const { release } = reply;
      await responses.endOfTurn();
      if (release !== undefined) responses.whenOver(response, release);
      responses.send(response, 200, [...headers, ...headersOf(reply)], reply.body);
    } catch (error) {
      this.#fail(response, headers, error);
    }
  };

  /** @throws HttpError, and errors of index and node */
  async #reply(request: IncomingMessage): Promise<EsploraReply> {
    const {
      gate,
      serving: { node, queue, responses, replies, options }
    } = this.#parts;
    const target = this.#targetOf(request);
    const { route, parameters, query, url } = target;
    gate.requireOpen();
    if (options.auth) requireApiKey(request, node);
    const isRead = route.method === 'GET';
    const cached = isRead ? replies.find(url) : undefined;
    if (cached !== undefined) return cached;
    const body = isRead ? NO_BODY : await this.#bodyOf(request);
    const asked = new EsploraRequest(parameters, query, body, request.socket);
    const lane = route.isHeavy === true ? 'heavy' : 'small';
    // The memory for waiting replies is full: the reply could not be sent.
    if (lane === 'heavy' && responses.isFull) throw queueFull();
    const answer = (client: EsploraRequest): Promise<EsploraReply> => {
      // The gate may have closed while the body came, or while the request waited for a slot.
      gate.requireOpen();
      return route.endpoint(client);
    };
    const make = (): Promise<EsploraReply> => queue.run(asked, answer, lane);
    return await (isRead ? replies.make(url, make) : make());
  }

  /** @throws HttpError 404 */
  #targetOf({ method = '', url = '' }: IncomingMessage): Target {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const found = this.#router.find(method === 'HEAD' ? 'GET' : method, path.slice(this.#parts.prefix.length));
    if (found === undefined) throw noSuchEndpoint(path);
    return { route: found.route, parameters: found.parameters, url, query: mark < 0 ? '' : url.slice(mark + 1) };
  }

  /** Called before the queue, so that a slow sender holds no slot. @throws HttpError 408, 413, 415 */
  async #bodyOf(request: IncomingMessage): Promise<Buffer> {
    if (!hasBody(request)) return NO_BODY;
    const {
      unfinished,
      options: {
        limits: { timeoutMs }
      }
    } = this.#parts.serving;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(requestTimeout());
      }, timeoutMs);
    });
    const body = readBody(request, { maxBodyBytes: MOST_BODY_BYTES, timeoutMs: timeoutMs + CUT_OFF_MS, unfinished });
    try {
      return await Promise.race([body, late]);
    } catch (error) {
      // `readBody` is still under way, and fails when the connection is cut off.
      body.catch(() => undefined);
      throw error instanceof HttpError && error.status === 413 ? bodyTooLarge() : error;
    } finally {
      clearTimeout(timer);
    }
  }

  #fail(response: ServerResponse, origin: HeaderList, error: unknown): void {
    const { socket } = response.req;
    if (socket.destroyed || error instanceof ClientGoneError) return;
    const known = this.#asHttpError(error);
    const status = known instanceof QueueFullError ? 503 : known.status;
    // Text from the client is latin1, as Node reads it, so its bytes come back unchanged.
    const body = Buffer.from(known.message, 'latin1');
    const own = ['Cache-Control', 'no-store', 'Content-Type', 'text/plain', 'Content-Length', String(body.length)];
    const headers = [...origin, ...errorHeaders(known, status), ...own];
    this.#parts.serving.responses.send(response, status, headers, body);
  }

  #asHttpError(error: unknown): HttpError {
    const { gate, serving } = this.#parts;
    const refusal = refusalOf(error, gate, serving.logger);
    if (refusal.kind === 'history-too-long') return historyTooLong();
    return refusal.kind === 'too-many-coins' ? tooManyCoins() : refusal.error;
  }
}

function headersOf({ contentType, body, isImmutable = false, maxAge }: EsploraReply): HeaderList {
  const seconds = maxAge ?? (isImmutable ? LONG_SECONDS : SHORT_SECONDS);
  return ['Content-Type', contentType, 'Content-Length', String(body.length), 'Cache-Control', `public, max-age=${seconds}`];
}
