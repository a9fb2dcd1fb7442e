// The table of endpoints, and the router that it is made into.

import Router from '@koa/router';
import { answer, type AnsweredState } from '../server/answering';
import { DOCUMENT_PATH, type DocumentRoute } from '../server/document';
import { routing, type HttpRouter } from '../server/routing';
import { EsploraRequest, type EsploraContext, type Route } from './endpoint';
import { blockRoutes } from './endpoints/block';
import { blockTransactionRoutes } from './endpoints/block-transactions';
import { broadcastRoutes } from './endpoints/broadcast';
import { chainRoutes } from './endpoints/chain';
import { feeRoutes } from './endpoints/fees';
import { mempoolRoutes } from './endpoints/mempool';
import { miningRoutes } from './endpoints/mining';
import { outspendRoutes } from './endpoints/outspend';
import { proofRoutes } from './endpoints/proof';
import { scriptRoutes } from './endpoints/script';
import { scriptHistoryRoutes } from './endpoints/script-histories';
import { summaryRoutes } from './endpoints/script-summaries';
import { transactionRoutes } from './endpoints/transaction';
import { mempoolInterfaceRoutes } from './mempool/routes';
import type { IncomingMessage } from 'node:http';
import type { HttpContext, Middleware } from '../server/app';
import type { HttpServing } from '../server/serving';

export function esploraRoutes(context: EsploraContext): Route[] {
  return [
    ...chainRoutes(context),
    ...blockRoutes(context),
    ...blockTransactionRoutes(context),
    ...transactionRoutes(context),
    ...proofRoutes(context),
    ...outspendRoutes(context),
    ...scriptRoutes(context),
    ...scriptHistoryRoutes(context),
    ...summaryRoutes(context),
    ...broadcastRoutes(context),
    ...miningRoutes(context),
    ...mempoolRoutes(context),
    ...feeRoutes(context),
    ...mempoolInterfaceRoutes(context)
  ];
}

export interface EsploraRouterParts {
  /** The path of the interface, without a slash at its end. */
  readonly path: string;
  readonly serving: HttpServing;
  readonly state: AnsweredState;
  readonly readBody: (request: IncomingMessage) => Promise<Buffer>;
  readonly document: DocumentRoute;
}

/** Segments of paths are compared literally, and empty ones count: nothing is decoded. */
export function esploraRouter(routes: readonly Route[], parts: EsploraRouterParts): Middleware {
  const router: HttpRouter = new Router();
  for (const route of routes) {
    const path = patternOf(`${parts.path}${route.path}`);
    const names = route.path.split('/').flatMap((segment) => (segment.startsWith(':') ? segment.slice(1) : []));
    const found: Middleware = (http) => {
      const parameters = new Map(names.map((name, i) => [name, http.captures?.[i] ?? '']));
      return serve(route, parameters, http, parts);
    };
    const name = `${route.method} ${route.path}`;
    if (route.method === 'GET') router.get(name, path, found);
    else router.post(name, path, found);
  }
  const { document } = parts;
  router.get(`GET ${DOCUMENT_PATH}`, document.pattern, document.middleware);
  return routing(router, (target) => {
    const mark = target.indexOf('?');
    return mark < 0 ? target : target.slice(0, mark);
  });
}

function serve(
  { method, endpoint, isHeavy }: Route,
  parameters: ReadonlyMap<string, string>,
  http: HttpContext,
  { serving, state, readBody }: EsploraRouterParts
): Promise<void> {
  const { url = '', socket } = http.req;
  const mark = url.indexOf('?');
  return answer(http, serving, state, {
    readBody: method === 'POST' ? readBody : undefined,
    requestWith: (body) => new EsploraRequest(parameters, mark < 0 ? '' : url.slice(mark + 1), body, socket),
    isHeavy: () => isHeavy === true,
    endpoint,
    isCached: method === 'GET'
  });
}

/** A path with a parameter in each segment that begins with a colon. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '([^/]*)')}$`);
