// Routes of @koa/router, found by the target as it came. What the router finds depends on method and path alone, and clients poll the same
// few short paths, so the routes of recent ones are remembered: a quarter of a small request goes into finding its route.

import { LRUCache } from 'lru-cache';
import type Router from '@koa/router';
import type { DefaultState } from 'koa';
import type { HttpContext, Middleware } from './app';

export type HttpRouter = Router<DefaultState, HttpContext>;

/** Serves the requests for a path. */
export type Serve = (context: HttpContext) => Promise<unknown>;

const MOST_PATHS = 1_024;

/** Longer paths are not remembered: they have hashes, and what is asked for a second time is found in the cache of replies. */
const LONGEST_PATH = 60;

/** A route for the router: `serving` gives what serves a path, from what the parentheses in the route's expression matched. */
export const toServe =
  (serving: (captures: readonly string[]) => Serve) =>
  (context: HttpContext): Promise<unknown> => {
    const serve = serving(context.captures ?? []);
    context.remember?.(serve);
    return serve(context);
  };

/** `pathIn`: what of the target the routes compare. Nothing in it is decoded. */
export function routing(router: HttpRouter, pathIn: (target: string) => string): Middleware {
  const find = router.routes() as Middleware;
  const recent = new LRUCache<string, Serve>({ max: MOST_PATHS });
  return (context, next) => {
    const path = pathIn(context.req.url ?? '');
    context.newRouterPath = path;
    if (path.length > LONGEST_PATH) return find(context, next);
    const { method } = context;
    // The router answers HEAD as GET.
    const key = method === 'GET' || method === 'HEAD' ? path : `${method} ${path}`;
    const known = recent.get(key);
    if (known !== undefined) return known(context);
    context.remember = (serve) => {
      recent.set(key, serve);
    };
    return find(context, next);
  };
}
