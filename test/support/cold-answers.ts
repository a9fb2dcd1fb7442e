// The answers of the service without any cached data: its endpoints with a cache that holds nothing.

import { expect } from 'chai';
import { restRoutes } from '../../lib/rest/routes';
import { HttpError } from '../../lib/server/errors';
import { endpointContext, requestFor } from './endpoints';
import type { RestNode } from './rest-node';

/** The body of the reply, as latin1 text. */
export async function coldAnswer({ rest: { node, reader } }: RestNode, path: string, body?: Buffer): Promise<string> {
  const route = restRoutes(endpointContext(node, reader)).find(({ prefix }) => path.startsWith(prefix)) ?? expect.fail('a route');
  try {
    const reply = await route.endpoint(requestFor(path.slice(route.prefix.length), body));
    return reply.body.toString('latin1');
  } catch (error) {
    if (error instanceof HttpError) return `${error.message}\r\n`;
    throw error;
  }
}
