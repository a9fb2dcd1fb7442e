// The table of endpoints by path prefix, as in Bitcoin Core's rest.cpp, and the router that it is made into.

import Router from '@koa/router';
import { answer } from '../server/answering';
import { NO_BODY, readBody } from '../server/http/body';
import { routing, type HttpRouter } from '../server/routing';
import { RestRequest, type Endpoint } from './endpoint';
import { blockEndpoint, blockOperations } from './endpoints/block';
import {
  asksForManyFilterHeaders,
  blockFilterEndpoint,
  blockFilterHeadersEndpoint,
  blockFilterHeadersOperations,
  blockFilterOperations
} from './endpoints/blockfilter';
import { blockHashEndpoint, blockHashOperations } from './endpoints/blockhashbyheight';
import { asksForLargePart, blockPartEndpoint, blockPartOperations, requirePart } from './endpoints/blockpart';
import { chainInfoEndpoint, chainInfoOperations } from './endpoints/chaininfo';
import { deploymentInfoEndpoint, deploymentInfoOfBlockOperations, deploymentInfoOperations } from './endpoints/deploymentinfo';
import { coinsEndpoint, coinsOperations } from './endpoints/getutxos';
import { asksForMany, headersEndpoint, headersOperations } from './endpoints/headers';
import {
  asksForContents,
  mempoolContentsEndpoint,
  mempoolContentsOperations,
  mempoolEndpoint,
  mempoolInfoEndpoint,
  mempoolInfoOperations
} from './endpoints/mempool';
import { spentOutputsEndpoint, spentOutputsOperations } from './endpoints/spenttxouts';
import { transactionEndpoint, transactionOperations } from './endpoints/tx';
import type { Answers } from '../answers/answers';
import type { PlacedOperation } from '../describe/open-api';
import type { HttpContext, Middleware } from '../server/app';
import type { DocumentRoute } from '../server/document';
import type { HttpServing } from '../server/serving';
import type { Profile } from '../views/profile';

export interface Route {
  readonly prefix: string;
  readonly endpoint: Endpoint;
  /** What is asked for under the prefix: one operation for each form of the path. */
  readonly operations: readonly PlacedOperation[];
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
    { prefix: '/rest/tx/', endpoint: transactionEndpoint(context), operations: transactionOperations(context), readsBody: false },
    {
      prefix: '/rest/block/notxdetails/',
      endpoint: blockEndpoint(context, 'summary'),
      operations: blockOperations(context, 'summary'),
      readsBody: false,
      isHeavy: always
    },
    {
      prefix: '/rest/block/',
      endpoint: blockEndpoint(context, 'json'),
      operations: blockOperations(context, 'json'),
      readsBody: false,
      isHeavy: always
    },
    { prefix: '/rest/blockfilter/', endpoint: blockFilterEndpoint(context), operations: blockFilterOperations(context), readsBody: false },
    {
      prefix: '/rest/blockfilterheaders/',
      endpoint: blockFilterHeadersEndpoint(context),
      operations: blockFilterHeadersOperations(context),
      readsBody: false,
      isHeavy: asksForManyFilterHeaders
    },
    {
      prefix: '/rest/headers/',
      endpoint: headersEndpoint(context),
      operations: headersOperations(context),
      readsBody: false,
      isHeavy: (request) => asksForMany(request, context.profile)
    },
    { prefix: '/rest/chaininfo', endpoint: chainInfoEndpoint(context), operations: chainInfoOperations(context), readsBody: false },
    ...poolRoutes(context),
    {
      prefix: '/rest/blockpart/',
      endpoint: blockPartEndpoint(context),
      operations: blockPartOperations(),
      readsBody: false,
      check: requirePart,
      isHeavy: asksForLargePart
    },
    { prefix: '/rest/blockhashbyheight/', endpoint: blockHashEndpoint(context), operations: blockHashOperations(), readsBody: false },
    {
      prefix: '/rest/deploymentinfo/',
      endpoint: deploymentInfoEndpoint(context),
      operations: deploymentInfoOfBlockOperations(),
      readsBody: false
    },
    { prefix: '/rest/deploymentinfo', endpoint: deploymentInfoEndpoint(context), operations: deploymentInfoOperations(), readsBody: false },
    {
      prefix: '/rest/spenttxouts/',
      endpoint: spentOutputsEndpoint(context),
      operations: spentOutputsOperations(),
      readsBody: false,
      isHeavy: always
    },
    { prefix: '/rest/getutxos', endpoint: coinsEndpoint(context), operations: coinsOperations(context), readsBody: true }
  ];
}

function poolRoutes(context: Answers): Route[] {
  const [info, contents] = [mempoolInfoOperations(context), mempoolContentsOperations(context)];
  if (context.profile.parsing.poolParameters)
    return [
      {
        prefix: '/rest/mempool/',
        endpoint: mempoolEndpoint(context),
        operations: [...info, ...contents],
        readsBody: false,
        isHeavy: asksForContents
      }
    ];
  return [
    { prefix: '/rest/mempool/info', endpoint: mempoolInfoEndpoint(context), operations: info, readsBody: false },
    {
      prefix: '/rest/mempool/contents',
      endpoint: mempoolContentsEndpoint(context),
      operations: contents,
      readsBody: false,
      isHeavy: always
    }
  ];
}

/** The target is compared byte for byte as it came, with its query. */
export function restRouter(routes: readonly Route[], serving: HttpServing, profile: Profile, document: DocumentRoute): Middleware {
  const router: HttpRouter = new Router();
  for (const route of routes) router.get(route.prefix, beginningWith(route.prefix), (context) => serve(route, context, serving, profile));
  router.get(document.path, document.pattern, document.middleware);
  return routing(router, (target) => target);
}

function serve(route: Route, context: HttpContext, serving: HttpServing, profile: Profile): Promise<void> {
  const { url = '', socket } = context.req;
  const requestWith = (body: Buffer): RestRequest =>
    new RestRequest(url.slice(route.prefix.length), body, socket, profile.parsing.cutsQuery);
  route.check?.(requestWith(NO_BODY));
  const { unfinished, options } = serving;
  return answer(context, serving, serving, {
    readBody: route.readsBody ? (request) => readBody(request, { ...options.limits, unfinished }) : undefined,
    requestWith,
    isHeavy: (request) => route.isHeavy?.(request) === true,
    endpoint: route.endpoint,
    isCached: true
  });
}

const beginningWith = (prefix: string): RegExp => new RegExp(`^${prefix}`);
