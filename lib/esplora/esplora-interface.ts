// Esplora's API over HTTP: its headers, errors and the reading of bodies. A request passes origins, cache, route, gate, key, body, queue and
// the gate again, in this order.

import { fromCache, sending, type Words } from '../server/answering';
import { compose, type HttpInterface, type Middleware } from '../server/app';
import { HttpError, type HeaderList } from '../server/errors';
import { NO_BODY, readBody } from '../server/http/body';
import { originHeaders, PREFLIGHT, type Origins } from '../server/http/cors';
import { under } from '../server/http/mount';
import { bodyTooLarge, historyTooLong, noSuchEndpoint, requestTimeout, tooManyCoins } from './errors';
import { documentRoute } from '../server/document';
import { esploraDocument } from './document';
import { esploraRouter, esploraRoutes } from './routes';
import type { IncomingMessage } from 'node:http';
import type { HttpServing } from '../server/serving';
import type { EsploraContext } from './endpoint';
import type { EsploraReply } from './reply';

/** Five years: for replies that cannot change. */
const LONG_SECONDS = 157_784_630;
const SHORT_SECONDS = 10;

const MOST_BODY_BYTES = 1_000_000;

/** How long after a request is refused with 408 its silent connection is cut off. */
const CUT_OFF_MS = 5_000;

export interface EsploraInterfaceOptions {
  /** The path under which requests are served, for example `/api`, without a slash at its end. */
  readonly path: string;
  /** Origins whose pages may read replies. */
  readonly cors: Origins;
  /** The version of this package. */
  readonly version: string;
}

export function esploraInterface(
  serving: HttpServing,
  context: EsploraContext,
  { path, cors, version }: EsploraInterfaceOptions
): HttpInterface {
  const routes = esploraRoutes(context);
  const { auth } = serving.options;
  const document = documentRoute(path, serving, () => esploraDocument(routes, { path, version, auth }));
  const state = { gate: context.scriptsGate, shown: context.scriptsShown };
  const middleware = compose(
    preflight(serving, cors),
    sending({ serving, state, words: wordsFor(cors) }),
    ifGet(fromCache(serving, state.shown)),
    esploraRouter(routes, { path, serving, state, document, readBody: (request) => bodyOf(request, serving) }),
    notFound
  );
  return { takes: under(path), middleware, timedAs: 'esplora' };
}

function preflight({ responses }: HttpServing, origins: Origins): Middleware {
  return ({ req, res }, next) => {
    if (req.method !== 'OPTIONS' || origins === undefined) return next();
    responses.send(res, 204, [...originHeaders(origins, req), ...PREFLIGHT], NO_BODY);
    return Promise.resolve();
  };
}

function wordsFor(origins: Origins): Words<EsploraReply> {
  return {
    headersOf: (reply, request) => [...originHeaders(origins, request), ...headersOf(reply)],
    errorOf: ({ kind, error }) => {
      if (kind === 'busy') return { status: 503, message: error.message, headers: error.headers };
      if (kind === 'history-too-long') return historyTooLong();
      return kind === 'too-many-coins' ? tooManyCoins() : error;
    },
    errorHeadersOf: (body, request, own) => [
      ...originHeaders(origins, request),
      ...(own.includes('Content-Type') ? [] : ['Content-Type', 'text/plain']),
      ...['Cache-Control', 'no-store', 'Content-Length', String(body.length)]
    ],
    lineEnd: '',
    hasTags: true
  };
}

const ifGet =
  (middleware: Middleware): Middleware =>
  (context, next) =>
    context.req.method === 'GET' || context.req.method === 'HEAD' ? middleware(context, next) : next();

/** @throws HttpError 404 */
const notFound: Middleware = ({ req: { url = '' } }) => {
  const mark = url.indexOf('?');
  throw noSuchEndpoint(mark < 0 ? url : url.slice(0, mark));
};

/** Called before the queue, so that a slow sender holds no slot. @throws HttpError 408, 413, 415 */
async function bodyOf(request: IncomingMessage, { unfinished, options }: HttpServing): Promise<Buffer> {
  const { timeoutMs } = options.limits;
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

function headersOf({ contentType, body, isImmutable = false, maxAge, isStored }: EsploraReply): HeaderList {
  const seconds = maxAge ?? (isImmutable ? LONG_SECONDS : SHORT_SECONDS);
  const caching = isStored === false ? 'no-store' : `public, max-age=${seconds}`;
  return ['Content-Type', contentType, 'Content-Length', String(body.length), 'Cache-Control', caching];
}
