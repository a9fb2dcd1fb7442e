// The context of endpoints, with a cache of any size.

import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { SpentBytes } from '../../lib/answers/blocks/spent';
import { SpentCounts } from '../../lib/answers/blocks/spent-counts';
import { RawBlocks } from '../../lib/answers/blocks/raw-blocks';
import { PoolTexts } from '../../lib/answers/pool/texts';
import { ReplyCache } from '../../lib/server/cache/replies';
import { BlockTexts } from '../../lib/answers/blocks/texts';
import { PROFILES, type Profile } from '../../lib/views/profile';
import { DEFAULT_LIMITS } from '../../lib/server/limits';
import { RestRequest } from '../../lib/rest/endpoint';
import { type Answers } from '../../lib/answers/answers';
import { SpentOutputs } from '../../lib/answers/blocks/spent-outputs';
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
  const blocks = new RawBlocks(node, cache);
  const spentCounts = new SpentCounts(node, blocks, cache);
  return {
    node,
    reader,
    gate,
    witness: true,
    filters: false,
    limits: { ...DEFAULT_LIMITS, ...profile.limits },
    profile,
    cache,
    blocks,
    spentCounts,
    spentBytes: new SpentBytes(node, blocks, spentCounts, cache),
    texts: new BlockTexts(0),
    poolTexts: new PoolTexts(node.pool, profile.fields, gate),
    spent: new SpentOutputs(node),
    txidsOf: undefined
  };
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
