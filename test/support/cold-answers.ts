// What the service would say if it remembered nothing: its endpoints with a cache that has
// no room.

import { expect } from 'chai';
import { AnswerCache } from '../../lib/rest/cache/answers';
import { RestRequest } from '../../lib/rest/endpoint';
import { RestError } from '../../lib/rest/errors';
import { DEFAULT_LIMITS } from '../../lib/rest/limits';
import { RawBlocks } from '../../lib/rest/cache/blocks';
import { ReplyMemory } from '../../lib/rest/cache/buffers';
import { findRoute, restRoutes } from '../../lib/rest/routes';
import type { RestNode } from './rest-node';

/** The body of the reply, as latin1 text. */
export async function coldAnswer({ rest: { node, reader } }: RestNode, path: string, body: Buffer = Buffer.alloc(0)): Promise<string> {
  const cache = new AnswerCache(1);
  const routes = restRoutes({ node, reader, gate: { requireOpen: () => undefined }, witness: true, limits: DEFAULT_LIMITS, cache, memory: new ReplyMemory(0), blocks: new RawBlocks(node, cache) });
  const route = findRoute(routes, path) ?? expect.fail('a route');
  try {
    const reply = await route.endpoint(new RestRequest(path.slice(route.prefix.length), body, { destroyed: false }));
    return reply.body.toString('latin1');
  } catch (error) {
    if (error instanceof RestError) return `${error.message}\r\n`;
    throw error;
  }
}
