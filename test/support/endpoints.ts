// What endpoints ask, beside a cache of any size.

import { AnswerCache } from '../../lib/rest/cache/answers';
import { RawBlocks } from '../../lib/rest/cache/blocks';
import { PoolTexts } from '../../lib/rest/cache/pool-texts';
import { ReplyCache } from '../../lib/rest/cache/replies';
import { BlockTexts } from '../../lib/rest/cache/texts';
import { PROFILES, type Profile } from '../../lib/profile/profile';
import { DEFAULT_LIMITS } from '../../lib/rest/limits';
import { RestRequest, type EndpointContext } from '../../lib/rest/endpoint';
import { SpentOutputs } from '../../lib/rest/spent-outputs';
import type { IndexReader } from '../../lib/index/types';
import type { NodeSource } from '../../lib/node/types';

/** By default nothing is cached. */
export function endpointContext(
  node: NodeSource,
  reader: IndexReader,
  cache = new AnswerCache(1),
  profile: Profile = PROFILES['0.17']
): EndpointContext {
  const gate = { requireOpen: () => undefined };
  return {
    node,
    reader,
    gate,
    witness: true,
    filters: false,
    limits: { ...DEFAULT_LIMITS, ...profile.limits },
    profile,
    cache,
    blocks: new RawBlocks(node, cache),
    texts: new BlockTexts(0),
    poolTexts: new PoolTexts(node.pool, profile.fields, gate),
    spent: new SpentOutputs(node),
    txids: { of: undefined }
  };
}

/** Where no reply is of a state of the index, none is cached. */
export function noReplies(): ReplyCache {
  const reader: IndexReader = {
    read: () => {
      throw new Error('expected no reply to be looked up');
    }
  };
  return new ReplyCache(new AnswerCache(1), { pruned: false }, reader);
}

/** A request of a client that waits. `path`: what follows the endpoint's prefix. */
export function requestFor(path: string, body: Buffer = Buffer.alloc(0)): RestRequest {
  return new RestRequest(path, body, { destroyed: false });
}
