// The Koa application: method, route, gate, key, body, queue, gate, in this order, then the reply or
// what went wrong. Replies are written to Node's response directly: Koa would guess content
// types and turn empty bodies into 204.

import type Koa from 'koa';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { IndexUnavailableError } from '../index/errors';
import { requireApiKey } from './server/auth';
import { DirectKoa } from './server/direct-koa';
import { RestRequest } from './endpoint';
import { brokenDown, ClientGoneError, methodNotAllowed, methodNotImplemented, noSuchPath, queueFull, RestError, unavailable, type HeaderList } from './errors';
import { hasBody, NO_BODY, readBody } from './server/request-body';
import { findRoute, type Route } from './routes';
import { sendBody } from './server/send-body';
import type { NodeSource } from '../node/types';
import type { Reply } from './format';
import type { Gate } from './server/gate';
import type { Limits } from './limits';
import type { Outflow } from './server/outflow';
import type { WorkQueue } from './server/work-queue';

/** Where the service says what went wrong. bcoin's logger is one. */
export interface RestLogger {
  error(message: string): void;
  debug(message: string): void;
}

export interface AppParts {
  readonly routes: readonly Route[];
  readonly gate: Pick<Gate, 'requireOpen' | 'status'>;
  readonly queue: WorkQueue;
  readonly outflow: Outflow;
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
  const app = new DirectKoa();
  app.on('error', (error: unknown) => logger.debug(`reply failed: ${textOf(error)}`));
  const answer = (response: ServerResponse, { contentType, body, release }: Reply): void => {
    if (response.destroyed) release?.();
    else if (release !== undefined) response.once('close', release);
    send(response, 200, ['Content-Type', contentType, 'Content-Length', String(body.length)], body, parts);
  };
  const fail = (response: ServerResponse, error: unknown): void => {
    if (response.req.socket.destroyed || error instanceof ClientGoneError) return;
    const { status, message, headers } = asRestError(error, gate, logger);
    const body = message === '' ? NO_BODY : Buffer.from(`${message}\r\n`);
    const type = message === '' ? [] : ['Content-Type', 'text/plain'];
    send(response, status, [...headers, ...type, 'Content-Length', String(body.length)], body, parts);
  };
  // Most replies are there at once: no promise is made for them.
  app.use((context) => {
    context.respond = false;
    const { req, res } = context;
    try {
      const reply = serve(req, parts);
      if (reply instanceof Promise) return reply.then((made) => { answer(res, made); }).catch((error: unknown) => { fail(res, error); });
      answer(res, reply);
    } catch (error) {
      fail(res, error);
    }
    return undefined;
  });
  return app;
}

function serve(request: IncomingMessage, parts: AppParts): Reply | Promise<Reply> {
  requireMethod(request.method);
  const path = request.url ?? '';
  const route = findRoute(parts.routes, path);
  if (route === undefined) throw noSuchPath();
  parts.gate.requireOpen();
  if (parts.auth) requireApiKey(request, parts.node);
  // Bodies are read before the queue: a slow sender holds no slot.
  if (route.readsBody && hasBody(request)) return readBody(request, parts.limits).then((body) => work(request, route, body, parts));
  return work(request, route, NO_BODY, parts);
}

function work({ url = '', socket }: IncomingMessage, { prefix, endpoint, isHeavy }: Route, body: Buffer, { queue, outflow, gate }: AppParts): Reply | Promise<Reply> {
  const request = new RestRequest(url.slice(prefix.length), body, socket);
  const lane = isHeavy(request.path) ? 'heavy' : 'small';
  // Nobody could send the reply.
  if (lane === 'heavy' && outflow.isFull) throw queueFull();
  return queue.run(request, (client) => {
    // It may have closed while the body came, or while others had the slots.
    gate.requireOpen();
    return endpoint(client);
  }, lane);
}

/** GET, POST and PUT are the same; Node leaves the body out for HEAD. @throws RestError 405, 501 */
function requireMethod(method: string | undefined): void {
  switch (method) {
    case 'GET': case 'HEAD': case 'POST': case 'PUT': return;
    case 'DELETE': throw methodNotAllowed();
    default: throw methodNotImplemented();
  }
}

function send(response: ServerResponse, status: number, headers: HeaderList, body: Buffer, { server, outflow }: AppParts): void {
  outflow.requireRoom(body);
  // A server that closes waits for connections in use: a busy client would never let go.
  if (!server.listening) response.shouldKeepAlive = false;
  response.writeHead(status, headers as string[]);
  sendBody(response, body);
  // What was not handed over at once, what the system did not take, or what stands behind
  // other replies on the connection, may be waiting for a slow reader.
  const { socket } = response;
  if (!response.writableEnded || socket === null || socket.writableLength > 0) outflow.add(response, body);
}

function asRestError(error: unknown, gate: Pick<Gate, 'status'>, logger: RestLogger): RestError {
  if (error instanceof RestError) return error;
  if (error instanceof IndexUnavailableError) return unavailable(gate.status());
  logger.error(`request failed: ${textOf(error)}`);
  return brokenDown();
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
