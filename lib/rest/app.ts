// The Koa application. A request passes method, route, gate, key, body, queue and the gate again, in this order; then the reply
// or the error is sent. Replies are written to Node's response directly: Koa would guess content types and turn empty bodies into 204.

import Koa from 'koa';
import { refusalOf } from '../server/refusal';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { detailsOf } from '../turns/error-text';
import { requireApiKey } from '../server/http/auth';
import { hasBody, NO_BODY, readBody } from '../server/http/body';
import { RestRequest } from './endpoint';
import { errorHeaders, methodNotAllowed, noSuchPath, queueFull, QueueFullError, unknownMethod, type HeaderList } from '../server/errors';
import { ClientGoneError } from '../turns/client';
import { findRoute, type Route } from './routes';
import type { Profile } from '../views/profile';
import type { Reply } from '../server/http/reply';
import type { HttpServing } from '../server/serving';

const IMMUTABLE = 'public, immutable, max-age=86400';
const NOT_STORED = 'no-store';

/** The date of a second, for the Date header: Node would write it itself, but after the other headers. */
let shownDate = { second: 0, text: '' };

function dateText(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== shownDate.second) shownDate = { second, text: new Date(second * 1_000).toUTCString() };
  return shownDate.text;
}

/**
 * Koa without its watch for the end of every response (on-finished), which costs more than the rest of Koa together
 * (docs/performance.md). The watch is for connections that break: Node's server closes these by itself, and server/responses.ts
 * takes care of slow readers.
 */
class DirectKoa extends Koa {
  /** Called by Koa's own callback for every request. */
  handleRequest(context: Koa.Context, middleware: (context: Koa.Context) => Promise<unknown>): Promise<unknown> {
    return middleware(context).catch((error: unknown) => {
      context.onerror(error as Error);
    });
  }
}

/** An application that serves the routes and logs only to the given logger. */
export function restApp(serving: HttpServing, routes: readonly Route[], profile: Profile): Koa {
  const { gate, responses, logger } = serving;
  const { replies } = profile;
  /** Headers in the order in which Bitcoin Core sends them. */
  const headersOf = (contentType: string | undefined, { length }: Buffer, isImmutable: boolean): HeaderList => {
    const type = contentType === undefined ? [] : ['Content-Type', contentType];
    if (!replies.cacheControl) return [...type, 'Content-Length', String(length)];
    return ['Cache-Control', isImmutable ? IMMUTABLE : NOT_STORED, ...type, 'Date', dateText(), 'Content-Length', String(length)];
  };
  const app = new DirectKoa();
  app.on('error', (error: unknown) => logger.debug(`reply failed: ${detailsOf(error)}`));
  const fail = (response: ServerResponse, error: unknown): void => {
    if (response.req.socket.destroyed || error instanceof ClientGoneError) return;
    const { error: known } = refusalOf(error, gate, logger);
    const { message } = known;
    const status = known instanceof QueueFullError ? replies.queueFullStatus : known.status;
    const headers = errorHeaders(known, status);
    // Text from the client is latin1, as Node reads it, so its bytes come back unchanged.
    const body = message === '' ? NO_BODY : Buffer.from(`${message}\r\n`, 'latin1');
    responses.send(response, status, [...headers, ...headersOf(message === '' ? undefined : 'text/plain', body, false)], body);
  };
  app.use(async (context) => {
    context.respond = false;
    const { req, res } = context;
    try {
      const { contentType, body, isImmutable = false, release } = await serve(req, serving, routes, profile);
      await responses.endOfTurn();
      if (release !== undefined) responses.whenOver(res, release);
      responses.send(res, 200, headersOf(contentType, body, isImmutable), body);
    } catch (error) {
      fail(res, error);
    }
  });
  return app;
}

async function serve(request: IncomingMessage, serving: HttpServing, routes: readonly Route[], profile: Profile): Promise<Reply> {
  const { node, gate, queue, replies, responses, unfinished, options } = serving;
  requireMethod(request.method, profile);
  const { url = '', socket } = request;
  const route = findRoute(routes, url);
  if (route === undefined) throw noSuchPath();
  const requestWith = (body: Buffer): RestRequest =>
    new RestRequest(url.slice(route.prefix.length), body, socket, profile.parsing.cutsQuery);
  route.check?.(requestWith(NO_BODY));
  gate.requireOpen();
  if (options.auth) requireApiKey(request, node);
  // Bodies are read before the queue: a slow sender holds no slot.
  const body = route.readsBody && hasBody(request) ? await readBody(request, { ...options.limits, unfinished }) : NO_BODY;
  const question = body.length === 0 ? url : `${url} ${body.toString('latin1')}`;
  const cached = replies.find(question);
  if (cached !== undefined) return cached;
  const asked = requestWith(body);
  const lane = route.isHeavy?.(asked) === true ? 'heavy' : 'small';
  // The memory for waiting replies is full: the reply could not be sent.
  if (lane === 'heavy' && responses.isFull) throw queueFull();
  const answer = (client: RestRequest): Promise<Reply> => {
    // The gate may have closed while the body came, or while the request waited for a slot.
    gate.requireOpen();
    return route.endpoint(client);
  };
  return await replies.make(question, () => queue.run(asked, answer, lane));
}

/** GET, POST and PUT are answered alike; Node leaves the body out for HEAD. @throws HttpError 405, 501 */
function requireMethod(method: string | undefined, { replies }: Profile): void {
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'POST':
    case 'PUT':
      return;
    case 'DELETE':
      throw methodNotAllowed();
    default:
      throw unknownMethod(replies.unknownMethodStatus);
  }
}
