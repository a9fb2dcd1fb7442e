// The context of endpoints, with a cache of any size.

import { answersOf, type Answers } from '../../lib/answers/answers';
import { RestRequest } from '../../lib/rest/endpoint';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { ReplyCache } from '../../lib/server/cache/replies';
import { DEFAULT_LIMITS } from '../../lib/server/limits';
import { PROFILES, type Profile } from '../../lib/views/profile';
import type { IndexReader } from '../../lib/index/types';
import type { NodeSource } from '../../lib/node/types';

/** By default nothing is cached. */
export function endpointContext(
  node: NodeSource,
  reader: IndexReader,
  cache = new AnswerCache(1),
  profile: Profile = PROFILES['0.17']
): Answers {
  const gate = { requireOpen: () => undefined };
  const options = { limits: { ...DEFAULT_LIMITS, ...profile.limits }, answerCacheBytes: 0 };
  return answersOf({ node, reader, gate, cache, options }, { profile, witness: true, filters: false }, undefined);
}

/** A cache for endpoints whose replies do not depend on the index's state: it must never be asked. */
export function noReplies(): ReplyCache {
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
