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
  /** Whether the endpoint reads request bodies; absent: it does not. */
  readonly readsBody?: true;
  /** Refuses malformed requests even while the gate is closed. @throws HttpError */
  readonly check?: (request: RestRequest) => unknown;
  /** Whether a request takes the heavy lane of the work queue; absent: none does. */
  readonly isHeavy?: (request: RestRequest) => boolean;
}

const always = (): boolean => true;

/** All routes. A prefix that is the beginning of another prefix comes after it. */
export function restRoutes(answers: Answers): Route[] {
  return [
    { prefix: '/rest/tx/', endpoint: transactionEndpoint(answers), operations: transactionOperations(answers) },
    {
      prefix: '/rest/block/notxdetails/',
      endpoint: blockEndpoint(answers, 'summary'),
      operations: blockOperations(answers, 'summary'),
      isHeavy: always
    },
    {
      prefix: '/rest/block/',
      endpoint: blockEndpoint(answers, 'json'),
      operations: blockOperations(answers, 'json'),
      isHeavy: always
    },
    { prefix: '/rest/blockfilter/', endpoint: blockFilterEndpoint(answers), operations: blockFilterOperations(answers) },
    {
      prefix: '/rest/blockfilterheaders/',
      endpoint: blockFilterHeadersEndpoint(answers),
      operations: blockFilterHeadersOperations(answers),
      isHeavy: asksForManyFilterHeaders
    },
    {
      prefix: '/rest/headers/',
      endpoint: headersEndpoint(answers),
      operations: headersOperations(answers),
      isHeavy: (request) => asksForMany(request, answers.profile)
    },
    { prefix: '/rest/chaininfo', endpoint: chainInfoEndpoint(answers), operations: chainInfoOperations(answers) },
    ...poolRoutes(answers),
    {
      prefix: '/rest/blockpart/',
      endpoint: blockPartEndpoint(answers),
      operations: blockPartOperations(),
      check: requirePart,
      isHeavy: asksForLargePart
    },
    { prefix: '/rest/blockhashbyheight/', endpoint: blockHashEndpoint(answers), operations: blockHashOperations() },
    {
      prefix: '/rest/deploymentinfo/',
      endpoint: deploymentInfoEndpoint(answers),
      operations: deploymentInfoOfBlockOperations()
    },
    { prefix: '/rest/deploymentinfo', endpoint: deploymentInfoEndpoint(answers), operations: deploymentInfoOperations() },
    {
      prefix: '/rest/spenttxouts/',
      endpoint: spentOutputsEndpoint(answers),
      operations: spentOutputsOperations(),
      isHeavy: always
    },
    { prefix: '/rest/getutxos', endpoint: coinsEndpoint(answers), operations: coinsOperations(answers), readsBody: true }
  ];
}

function poolRoutes(answers: Answers): Route[] {
  const [info, contents] = [mempoolInfoOperations(answers), mempoolContentsOperations(answers)];
  if (answers.profile.parsing.poolParameters)
    return [
      {
        prefix: '/rest/mempool/',
        endpoint: mempoolEndpoint(answers),
        operations: [...info, ...contents],
        isHeavy: asksForContents
      }
    ];
  return [
    { prefix: '/rest/mempool/info', endpoint: mempoolInfoEndpoint(answers), operations: info },
    {
      prefix: '/rest/mempool/contents',
      endpoint: mempoolContentsEndpoint(answers),
      operations: contents,
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
    readBody: route.readsBody === true ? (request) => readBody(request, { ...options.limits, unfinished }) : undefined,
    requestWith,
    isHeavy: (request) => route.isHeavy?.(request) === true,
    endpoint: route.endpoint,
    isCached: true
  });
}

const beginningWith = (prefix: string): RegExp => new RegExp(`^${prefix}`);
