// The table of endpoints by path prefix, as in Bitcoin Core's rest.cpp, and the router that it is made into.

import Router from '@koa/router';
import { answer } from '../server/answering';
import { NO_BODY, readBody } from '../server/http/body';
import { routing, type HttpRouter } from '../server/routing';
import { RestRequest, type Endpoint } from './endpoint';
import { blockEndpoint } from './endpoints/block';
import { asksForManyFilterHeaders, blockFilterEndpoint, blockFilterHeadersEndpoint } from './endpoints/blockfilter';
import { blockHashEndpoint } from './endpoints/blockhashbyheight';
import { asksForLargePart, blockPartEndpoint, requirePart } from './endpoints/blockpart';
import { chainInfoEndpoint } from './endpoints/chaininfo';
import { deploymentInfoEndpoint } from './endpoints/deploymentinfo';
import { coinsEndpoint } from './endpoints/getutxos';
import { asksForMany, headersEndpoint } from './endpoints/headers';
import { asksForContents, mempoolContentsEndpoint, mempoolEndpoint, mempoolInfoEndpoint } from './endpoints/mempool';
import { spentOutputsEndpoint } from './endpoints/spenttxouts';
import { transactionEndpoint } from './endpoints/tx';
import type { Answers } from '../answers/answers';
import type { HttpContext, Middleware } from '../server/app';
import type { HttpServing } from '../server/serving';
import type { Profile } from '../views/profile';

export interface Route {
  readonly prefix: string;
  readonly endpoint: Endpoint;
  /** Whether the endpoint reads request bodies. */
  readonly readsBody: boolean;
  /** Refuses malformed requests even while the gate is closed. @throws HttpError */
  readonly check?: (request: RestRequest) => unknown;
  /** Whether a request takes the heavy lane of the work queue; absent: none does. */
  readonly isHeavy?: (request: RestRequest) => boolean;
}

const always = (): boolean => true;

/** All routes. A prefix that is the beginning of another prefix comes after it. */
export function restRoutes(context: Answers): Route[] {
  return [
    { prefix: '/rest/tx/', endpoint: transactionEndpoint(context), readsBody: false },
    { prefix: '/rest/block/notxdetails/', endpoint: blockEndpoint(context, 'summary'), readsBody: false, isHeavy: always },
    { prefix: '/rest/block/', endpoint: blockEndpoint(context, 'json'), readsBody: false, isHeavy: always },
    { prefix: '/rest/blockfilter/', endpoint: blockFilterEndpoint(context), readsBody: false },
    {
      prefix: '/rest/blockfilterheaders/',
      endpoint: blockFilterHeadersEndpoint(context),
      readsBody: false,
      isHeavy: asksForManyFilterHeaders
    },
    {
      prefix: '/rest/headers/',
      endpoint: headersEndpoint(context),
      readsBody: false,
      isHeavy: (request) => asksForMany(request, context.profile)
    },
    { prefix: '/rest/chaininfo', endpoint: chainInfoEndpoint(context), readsBody: false },
    ...poolRoutes(context),
    {
      prefix: '/rest/blockpart/',
      endpoint: blockPartEndpoint(context),
      readsBody: false,
      check: requirePart,
      isHeavy: asksForLargePart
    },
    { prefix: '/rest/blockhashbyheight/', endpoint: blockHashEndpoint(context), readsBody: false },
    { prefix: '/rest/deploymentinfo/', endpoint: deploymentInfoEndpoint(context), readsBody: false },
    { prefix: '/rest/deploymentinfo', endpoint: deploymentInfoEndpoint(context), readsBody: false },
    { prefix: '/rest/spenttxouts/', endpoint: spentOutputsEndpoint(context), readsBody: false, isHeavy: always },
    { prefix: '/rest/getutxos', endpoint: coinsEndpoint(context), readsBody: true }
  ];
}

function poolRoutes(context: Answers): Route[] {
  if (context.profile.parsing.poolParameters)
    return [{ prefix: '/rest/mempool/', endpoint: mempoolEndpoint(context), readsBody: false, isHeavy: asksForContents }];
  return [
    { prefix: '/rest/mempool/info', endpoint: mempoolInfoEndpoint(context), readsBody: false },
    { prefix: '/rest/mempool/contents', endpoint: mempoolContentsEndpoint(context), readsBody: false, isHeavy: always }
  ];
}

/** The target is compared byte for byte as it came, with its query. */
export function restRouter(routes: readonly Route[], serving: HttpServing, profile: Profile): Middleware {
  const router: HttpRouter = new Router();
  for (const route of routes) router.get(beginningWith(route.prefix), (context) => serve(route, context, serving, profile));
  return routing(router, (target) => target);
}

function serve(route: Route, context: HttpContext, serving: HttpServing, profile: Profile): Promise<void> {
  const { url = '', socket } = context.req;
  const requestWith = (body: Buffer): RestRequest =>
    new RestRequest(url.slice(route.prefix.length), body, socket, profile.parsing.cutsQuery);
  route.check?.(requestWith(NO_BODY));
  const { unfinished, options, gate } = serving;
  return answer(context, serving, gate, {
    readBody: route.readsBody ? (request) => readBody(request, { ...options.limits, unfinished }) : undefined,
    requestWith,
    isHeavy: (request) => route.isHeavy?.(request) === true,
    endpoint: route.endpoint,
    isCached: true
  });
}

const beginningWith = (prefix: string): RegExp => new RegExp(`^${prefix}`);
