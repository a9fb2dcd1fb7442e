// Nodes that answer today's calls.

import { afterEach } from 'mocha';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import type { TestFullNode } from '../support/bcoin/bcoin';

export const KEY = { 'api-key': 'sesame' };

type Opening = (settings?: Readonly<Record<string, unknown>>, prefix?: string) => Promise<RestNode>;

/** For a group of tests: opens a node, which answers already unless the settings say when it begins. After each test it is closed. */
export function calledNodes(): Opening {
  const nodes: TestFullNode[] = [];
  afterEach(async () => {
    for (const node of nodes.splice(0)) if (node.opened) await node.close();
  });
  return async (settings = {}, prefix) => {
    const served = await openRestNode({ ...(prefix !== undefined && { prefix }), settings: { 'rest-core': 'modern', ...settings } });
    nodes.push(served.node);
    if (!('rest-warmup' in settings)) await untilReady(served);
    return served;
  };
}
