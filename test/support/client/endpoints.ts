// The context of endpoints, with a cache of any size, and a server of endpoints that a test makes up.

import { once } from 'node:events';
import { NEVER } from 'rxjs';
import { answersOf, type Answers } from '../../../lib/answers/answers';
import { RestRequest } from '../../../lib/rest/endpoint';
import { NO_HASH } from '../../../lib/bitcoin/hash';
import { restInterface } from '../../../lib/rest/rest-interface';
import { HttpApp } from '../../../lib/server/app';
import { EntityTags } from '../../../lib/server/http/entity-tags';
import { NO_PROXIES } from '../../../lib/server/bounds/proxies';
import { Unfinished } from '../../../lib/server/bounds/unfinished';
import { AnswerCache } from '../../../lib/server/cache/answer-cache';
import { ReplyCache } from '../../../lib/server/cache/replies';
import { ShownTip } from '../../../lib/server/consistency/shown-tip';
import { WaitingReads } from '../../../lib/server/consistency/waiting-reads';
import { Responses } from '../../../lib/server/http/responses';
import { DEFAULT_LIMITS } from '../../../lib/server/limits';
import { WorkQueue } from '../../../lib/server/work/work-queue';
import { PROFILES, type Profile } from '../../../lib/views/profile';
import { MemoryLog } from '../process/memory-log';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HeaderRecord, IndexReader } from '../../../lib/index/types';
import type { NodeSource } from '../../../lib/node/types/source';
import type { Route } from '../../../lib/rest/routes';
import type { HttpServing } from '../../../lib/server/serving';

/** By default nothing is cached. */
export function endpointContext(
  node: NodeSource,
  reader: IndexReader,
  cache = new AnswerCache(1),
  profile: Profile = PROFILES['0.17']
): Answers {
  const gate = { requireOpen: () => undefined };
  const options = { limits: { ...DEFAULT_LIMITS, ...profile.limits }, answerCacheBytes: 0 };
  return answersOf({ node, reader, gate, cache, options }, { profile, witness: true, filters: false });
}

/** A cache for endpoints whose replies do not depend on the index's state: it must never be asked. */
function noReplies(): ReplyCache {
  const reader: IndexReader = {
    read: () => {
      throw new Error('expected no reply to be looked up');
    }
  };
  return new ReplyCache(new AnswerCache(1), { pruned: false }, reader);
}

/** A request of a waiting client. `path`: the part after the endpoint's prefix. */
export function requestFor(path: string, body: Buffer = Buffer.alloc(0)): RestRequest {
  return new RestRequest(path, body, { destroyed: false });
}

/** The tip of an empty chain. */
const TIP = { height: 0, hash: NO_HASH } as HeaderRecord; // nothing else of it is read

/** What serves a test's own endpoints: everybody is answered, and nothing is cached. `server`: for the replies. */
export function servingOf(server: Pick<Server, 'listening'>, changes: Partial<HttpServing> = {}): HttpServing {
  return {
    host: { isApiKey: () => false },
    options: { limits: { ...DEFAULT_LIMITS, ...PROFILES['0.17'].limits }, auth: false },
    logger: new MemoryLog(),
    gate: { isRehearsing: false, requireOpen: () => undefined, requireReady: () => undefined, status: () => '' },
    own: new WeakSet(),
    queue: new WorkQueue(1, 1),
    replies: noReplies(),
    responses: new Responses(server, { mostBytes: 1, readRate: { bytesPerSecond: 1, windowMs: 30_000 } }),
    unfinished: new Unfinished(),
    proxies: NO_PROXIES,
    tags: new EntityTags('test'),
    shown: new ShownTip(() => TIP),
    waitingReads: new WaitingReads({ now: { log: 'test', sequence: 0 } }, NEVER, () => undefined),
    ...changes
  };
}

/** Has a new server answer these routes of REST, which are not described. @returns its port */
export async function serveRoutes(
  server: Server,
  routes: readonly Omit<Route, 'operations'>[],
  changes: Partial<HttpServing>
): Promise<number> {
  const serving = servingOf(server, changes);
  const app = new HttpApp(serving.logger);
  const described = routes.map((route) => ({ ...route, operations: [] }));
  app.add(restInterface(serving, described, PROFILES['0.17'], '1.2.3'));
  server.on('request', (request, response) => void app.handle(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
