// Routes of @koa/router, found by the target as it came. What the router finds depends on method and path alone, and clients poll the same
// few short paths, so the routes of recent ones are remembered.

import { LRUCache } from 'lru-cache';
import type Router from '@koa/router';
import type { DefaultState } from 'koa';
import type { HttpContext, Middleware } from './app';

export type HttpRouter = Router<DefaultState, HttpContext>;

/** What serves a path, and what the parentheses in its route's expression matched. */
interface Found {
  readonly serve: Middleware;
  readonly captures: readonly string[];
}

const MOST_PATHS = 1_024;

/** Longer paths are not remembered: they have hashes, and what is asked for a second time is found in the cache of replies. */
const LONGEST_PATH = 60;

/**
 * The first route that matches serves a request. `pathIn`: what of the target the routes compare. Nothing in it is decoded.
 *
 * The router's own middleware would put a chain of functions together for each request, and ten properties that nobody reads into the
 * context, which costs more than finding the route.
 */
export function routing(router: HttpRouter, pathIn: (target: string) => string): Middleware {
  const recent = new LRUCache<string, Found>({ max: MOST_PATHS });
  const find = (path: string, method: string): Found | undefined => {
    const [layer] = router.match(path, method).pathAndMethod;
    return layer && { serve: layer.stack[0] as Middleware, captures: layer.captures(path) }; // each route has one
  };
  const remembered = (path: string, method: string): Found | undefined => {
    // The router answers HEAD as GET.
    const key = method === 'GET' || method === 'HEAD' ? path : `${method} ${path}`;
    const known = recent.get(key) ?? find(path, method);
    if (known !== undefined) recent.set(key, known);
    return known;
  };
  return (context, next) => {
    const path = pathIn(context.req.url ?? '');
    const found = path.length > LONGEST_PATH ? find(path, context.method) : remembered(path, context.method);
    if (found === undefined) return next();
    context.captures = found.captures;
    return found.serve(context, next);
  };
}
