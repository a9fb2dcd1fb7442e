// Bitcoin Core's REST interface over HTTP: its methods, headers and errors. A request passes method, cache, route, gate, key, body, queue and
// the gate again, in this order.

import { fromCache, sending, type Words } from '../server/answering';
import { compose, type HttpContext, type HttpInterface, type Middleware } from '../server/app';
import { methodNotAllowed, noSuchPath, unknownMethod, type HeaderList } from '../server/errors';
import { under } from '../server/http/mount';
import { documentRoute } from '../server/document';
import { PREFIX, restDocument } from './document';
import { restRouter, type Route } from './routes';
import type { Reply } from '../server/http/reply';
import type { HttpServing } from '../server/serving';
import type { Profile } from '../views/profile';

const IMMUTABLE = 'public, immutable, max-age=86400';
const NOT_STORED = 'no-store';

/** `version`: of this package. */
export function restInterface(serving: HttpServing, routes: readonly Route[], profile: Profile, version: string): HttpInterface {
  const { auth } = serving.options;
  const document = documentRoute(PREFIX, serving, () => restDocument(routes, { profile, version, auth }));
  const middleware = compose(
    sending({ serving, state: serving, words: wordsOf(profile) }),
    knownMethod(profile),
    fromCache(serving, serving.shown),
    restRouter(routes, serving, profile, document),
    notFound
  );
  return { takes: under(PREFIX), middleware, timedAs: 'rest' };
}

/** Headers in the order in which Bitcoin Core sends them. */
function wordsOf({ replies: { cacheControl, queueFullStatus } }: Profile): Words<Reply> {
  const headersOf = (contentType: string | undefined, { length }: Buffer, isImmutable: boolean): HeaderList => {
    const type = contentType === undefined ? [] : ['Content-Type', contentType];
    if (!cacheControl) return [...type, 'Content-Length', String(length)];
    return ['Cache-Control', isImmutable ? IMMUTABLE : NOT_STORED, ...type, 'Date', dateText(), 'Content-Length', String(length)];
  };
  return {
    headersOf: ({ contentType, body, isImmutable = false }) => headersOf(contentType, body, isImmutable),
    errorOf: ({ kind, error }) => (kind === 'busy' ? { status: queueFullStatus, message: error.message, headers: error.headers } : error),
    errorHeadersOf: (body) => headersOf(body.length === 0 ? undefined : 'text/plain', body, false),
    lineEnd: '\r\n',
    hasTags: cacheControl
  };
}

/** The date of a second, for the Date header: Node would write it itself, but after the other headers. */
let shownDate = { second: 0, text: '' };

function dateText(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== shownDate.second) shownDate = { second, text: new Date(second * 1_000).toUTCString() };
  return shownDate.text;
}

/** GET, POST and PUT are answered alike; Node leaves the body out for HEAD. @throws HttpError 405, 501 */
function knownMethod({ replies: { unknownMethodStatus } }: Profile): Middleware {
  return (context, next) => {
    switch (context.req.method) {
      case 'POST':
      case 'PUT':
        answerAsGet(context);
        return next();
      case 'GET':
      case 'HEAD':
        return next();
      case 'DELETE':
        throw methodNotAllowed();
      default:
        throw unknownMethod(unknownMethodStatus);
    }
  };
}

/** For the router. Koa's setter would change the request itself. */
function answerAsGet(context: HttpContext): void {
  Object.defineProperty(context, 'method', { value: 'GET' });
}

const notFound: Middleware = () => {
  throw noSuchPath();
};
