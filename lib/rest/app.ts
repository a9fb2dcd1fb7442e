// The Koa application. One middleware writes what goes wrong, one serves: method, route, gate,
// key, body, queue, in this order. Replies are written to Node's response directly: Koa would
// guess content types and turn empty bodies into 204.

import Koa from 'koa';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { IndexUnavailableError } from '../index/errors';
import { requireApiKey } from './auth';
import { RestRequest } from './endpoint';
import { brokenDown, ClientGoneError, methodNotAllowed, methodNotImplemented, noSuchPath, RestError, unavailable, type HeaderList } from './errors';
import { hasBody, NO_BODY, readBody } from './request-body';
import { findRoute, type Route } from './routes';
import type { NodeSource } from '../node/types';
import type { Reply } from './format';
import type { Gate } from './gate';
import type { Limits } from './limits';
import type { WorkQueue } from './work-queue';

/** Where the service says what went wrong. bcoin's logger is one. */
export interface RestLogger {
  error(message: string): void;
  debug(message: string): void;
}

export interface AppParts {
  readonly routes: readonly Route[];
  readonly gate: Pick<Gate, 'isOpen' | 'status'>;
  readonly queue: WorkQueue;
  readonly limits: Limits;
  readonly node: Pick<NodeSource, 'isApiKey'>;
  readonly server: Pick<Server, 'listening'>;
  /** Whether requests need the node's API key. */
  readonly auth: boolean;
  readonly logger: RestLogger;
}

/** An application that serves the routes and never prints by itself. */
export function restApp(parts: AppParts): Koa {
  const { gate, logger } = parts;
  const app = new Koa();
  app.on('error', (error: unknown) => logger.debug(`connection failed: ${textOf(error)}`));
  app.use((context, next) => {
    context.respond = false;
    return next().catch((error: unknown) => {
      if (context.req.socket.destroyed || error instanceof ClientGoneError) return;
      const { status, message, headers } = asRestError(error, gate, logger);
      send(context.res, status, message === '' ? headers : [...headers, 'Content-Type', 'text/plain'], errorBody(message), parts);
    });
  });
  app.use(({ req, res }) => {
    const write = ({ contentType, body }: Reply): void => send(res, 200, ['Content-Type', contentType], body, parts);
    const reply = serve(req, parts);
    if (reply instanceof Promise) return reply.then(write);
    write(reply);
    return undefined;
  });
  return app;
}

function serve(request: IncomingMessage, parts: AppParts): Reply | Promise<Reply> {
  requireMethod(request.method);
  const path = request.url ?? '';
  const route = findRoute(parts.routes, path);
  if (route === undefined) throw noSuchPath();
  if (!parts.gate.isOpen) throw unavailable(parts.gate.status());
  if (parts.auth) requireApiKey(request, parts.node);
  const { endpoint, prefix, readsBody } = route;
  const work = (body: Buffer): Reply | Promise<Reply> =>
    parts.queue.run(new RestRequest(path.slice(prefix.length), body, request.socket), endpoint);
  // Bodies are read before the queue: a slow sender holds no slot.
  return readsBody && hasBody(request) ? readBody(request, parts.limits).then(work) : work(NO_BODY);
}

/** GET, POST and PUT are the same; Node leaves the body out for HEAD. @throws RestError 405, 501 */
function requireMethod(method: string | undefined): void {
  switch (method) {
    case 'GET': case 'HEAD': case 'POST': case 'PUT': return;
    case 'DELETE': throw methodNotAllowed();
    default: throw methodNotImplemented();
  }
}

function send(response: ServerResponse, status: number, headers: HeaderList, body: Buffer, { server, limits }: AppParts): void {
  // A server that closes waits for connections in use: a busy client would never let go.
  if (!server.listening) response.shouldKeepAlive = false;
  response.writeHead(status, [...headers, 'Content-Length', String(body.length)]);
  response.end(body);
  // What the system did not take at once, or what stands behind other replies on the
  // connection, may be waiting for a slow reader.
  const { socket, req } = response;
  if (socket === null || socket.writableLength > 0) req.socket.setTimeout(limits.timeoutMs);
}

function asRestError(error: unknown, gate: Pick<Gate, 'status'>, logger: RestLogger): RestError {
  if (error instanceof RestError) return error;
  if (error instanceof IndexUnavailableError) return unavailable(gate.status());
  logger.error(`request failed: ${textOf(error)}`);
  return brokenDown();
}

function errorBody(message: string): Buffer {
  return message === '' ? NO_BODY : Buffer.from(`${message}\r\n`);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
