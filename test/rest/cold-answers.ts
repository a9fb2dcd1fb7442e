// The answers of the service without any cached data: its endpoints with a cache that holds nothing.

import { expect } from 'chai';
import { restRoutes } from '../../lib/rest/routes';
import { HttpError } from '../../lib/server/errors';
import { endpointContext, requestFor } from '../support/client/endpoints';
import type { RestNode } from '../support/node/rest-node';

/** Gives the body of the reply, as latin1 text, by endpoints that were made for it: what they remember of blocks is not from before. */
export function coldAnswers({ rest: { node, reader } }: RestNode): (path: string, body?: Buffer) => Promise<string> {
  const routes = restRoutes(endpointContext(node, reader));
  return async (path, body) => {
    const route = routes.find(({ prefix }) => path.startsWith(prefix)) ?? expect.fail('a route');
    try {
      const reply = await route.endpoint(requestFor(path.slice(route.prefix.length), body));
      return reply.body.toString('latin1');
    } catch (error) {
      if (error instanceof HttpError) return `${error.message}\r\n`;
      throw error;
    }
  };
}
