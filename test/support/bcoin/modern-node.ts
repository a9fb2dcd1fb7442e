// A regtest node with today's pool and nothing else of the plugin.

import { BcoinNode } from '../../../lib/node/bcoin';
import { openRegtestNode, type RegtestOptions } from './regtest-node';
import type { TestFullNode } from './bcoin';

export interface ModernNode {
  readonly host: TestFullNode;
  readonly node: BcoinNode;
}

export async function openModernNode({ plugins = [], ...options }: RegtestOptions = {}): Promise<ModernNode> {
  let node: BcoinNode | undefined;
  const pool = {
    id: 'modern-pool',
    init: (host: TestFullNode) => {
      node = new BcoinNode(host, { modernPool: true });
      return { open: () => Promise.resolve(), close: () => Promise.resolve() };
    }
  };
  const host = await openRegtestNode({ ...options, plugins: [pool, ...plugins] });
  if (node === undefined) throw new Error('the node has not loaded its pool');
  return { host, node };
}
