// Routes of @koa/router, found by the target as it came.

import type Router from '@koa/router';
import type { DefaultState } from 'koa';
import type { HttpContext, Middleware } from './app';

export type HttpRouter = Router<DefaultState, HttpContext>;

/**
 * The first route that matches serves a request. `pathIn`: what of the target the routes compare. Nothing in it is decoded.
 *
 * The router's own middleware would put a chain of functions together for each request, and ten properties that nobody reads into the
 * context, which costs more than finding the route.
 */
export function routing(router: HttpRouter, pathIn: (target: string) => string): Middleware {
  return (context, next) => {
    const path = pathIn(context.req.url ?? '');
    const [layer] = router.match(path, context.method).pathAndMethod;
    if (layer === undefined) return next();
    context.captures = layer.captures(path);
    context.route = layer.name ?? undefined;
    const serve = layer.stack[0] as Middleware; // each route has one
    return serve(context, next);
  };
}
