// Koa without its watch over the end of every response (on-finished), which costs more than
// the rest of Koa together (docs/performance.md). It is there to hear of connections that
// break; Node's server closes those by itself, and whoever has yet to read is watched by
// outflow.ts.

import Koa from 'koa';

type Middleware = (context: Koa.Context) => Promise<unknown>;

export class DirectKoa extends Koa {
  /** Called by Koa's own callback for every request. */
  handleRequest(context: Koa.Context, middleware: Middleware): Promise<unknown> {
    return middleware(context).catch((error: unknown) => { context.onerror(error as Error); });
  }
}
