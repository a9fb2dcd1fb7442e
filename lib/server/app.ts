// The one Koa application, for all interfaces. Most replies are written to Node's response directly: Koa would guess content types and turn
// empty bodies into 204.

import Koa from 'koa';
import { detailsOf } from '../system/error-text';
import { classOf, type InterfaceName, type InterfaceTimes, type RequestTimes } from './figures/request-times';
import type { HeaderRecord } from '../index/types';
import type { Handler, Takes } from './http/mount';
import type { Reply } from './http/reply';
import type { ServerLogger } from './logger';

/** Koa's context of a request. */
export interface HttpContext extends Koa.Context {
  /** The reply, once it is made. */
  reply?: Reply;
  /** The name of the route that serves it. */
  route?: string | undefined;
  /** The tip of the state that the reply, or the refusal, was made from; undefined: it was made from none. */
  tip?: HeaderRecord | undefined;
  /** What the parentheses in a route's regular expression matched. */
  captures?: readonly string[];
}

export type Next = () => Promise<unknown>;
export type Middleware = (context: HttpContext, next: Next) => Promise<unknown>;

/** One middleware of several, each of which calls the one behind it: koa-compose, without its checks for each request. */
export function compose(...list: readonly Middleware[]): Middleware {
  return list.reduceRight<Middleware>(
    (behind, first) => (context, next) => first(context, () => behind(context, next)),
    (_context, next) => next()
  );
}

/** An interface over HTTP. */
export interface HttpInterface {
  /** Whether a request is for this interface. */
  readonly takes: Takes;
  readonly middleware: Middleware;
  /** Whether Koa writes the replies, from what the middleware sets in the context. */
  readonly isWrittenByKoa?: true;
  /** Under which name requests are timed; absent: they are not, or the interface times its calls by itself. */
  readonly timedAs?: InterfaceName;
}

/**
 * Koa without its watch for the end of every response (on-finished), which costs more than the rest of Koa together
 * (bench/HISTORY.md). The watch is for connections that break: Node's server closes these by itself, and responses.ts takes care of slow
 * readers.
 */
class DirectKoa extends Koa {
  handleRequest(context: Koa.Context, middleware: (context: Koa.Context) => Promise<unknown>): Promise<unknown> {
    return middleware(context).catch((error: unknown) => {
      context.onerror(error as Error);
    });
  }
}

/** What Koa's types leave out: the method that callback() calls for each request. */
interface RequestHandling {
  handleRequest(context: Koa.Context, middleware: (context: Koa.Context) => Promise<unknown>): Promise<unknown>;
}

/** The application that Koa's own replies are written by. */
const watching = Koa.prototype as unknown as RequestHandling;

export class HttpApp {
  readonly #app = new DirectKoa();
  readonly #interfaces: HttpInterface[] = [];
  readonly #times: RequestTimes | undefined;

  /** `times`: counts requests; undefined: nobody does. */
  constructor(logger: Pick<ServerLogger, 'debug'>, times?: RequestTimes) {
    this.#times = times;
    this.#app.on('error', (error: unknown) => logger.debug(`reply failed: ${detailsOf(error)}`));
  }

  /** An interface whose requests another one would take as well must be added before that one. */
  add(added: HttpInterface): void {
    const { timedAs } = added;
    const times = timedAs && this.#times?.of(timedAs);
    this.#interfaces.push(times === undefined ? added : { ...added, middleware: timed(added.middleware, times) });
  }

  readonly takes: Takes = (request) => this.#find(request) !== undefined;

  /** Serves a request that is taken. */
  readonly handle: Handler = (request, response) => {
    const context = this.#app.createContext(request, response) as HttpContext;
    const { middleware, isWrittenByKoa } = this.#find(request) ?? NOT_TAKEN;
    if (isWrittenByKoa === true) return watching.handleRequest.call(this.#app, context, () => middleware(context, nothing));
    context.respond = false;
    return this.#app.handleRequest(context, () => middleware(context, nothing));
  };

  #find(request: Parameters<Takes>[0]): HttpInterface | undefined {
    for (const one of this.#interfaces) if (one.takes(request)) return one;
    return undefined;
  }
}

/** For requests without a route. */
const NO_ROUTE = 'none';

/** Counts the requests that a middleware answers, up to the moment in which their replies are handed over. */
function timed(middleware: Middleware, times: InterfaceTimes): Middleware {
  return async (context, next) => {
    const begin = performance.now();
    try {
      await middleware(context, next);
    } finally {
      times.count(context.route ?? NO_ROUTE, classOf(context.res.statusCode), performance.now() - begin);
    }
  };
}

const nothing: Next = () => Promise.resolve();

/** For a request that no interface takes any more: it gets 404. */
const NOT_TAKEN: HttpInterface = { takes: () => false, middleware: nothing, isWrittenByKoa: true };
