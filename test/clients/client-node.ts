// A node that holds chain A and its pool, as seen by programs written for Bitcoin Core.

import { fillChainAPool, openChainANode } from '../support/node/chain-a-node';
import type { RestNode } from '../support/node/rest-node';

/** A user of the JSON-RPC. */
export const ACCOUNT = { user: 'oracle', password: 'oracle' } as const;

/** Today's edition, with everything switched on that programs may use. */
export const MODERN = {
  'rest-core': 'modern',
  'rest-filters': true,
  'rest-rpc-user': `${ACCOUNT.user}:${ACCOUNT.password}`,
  'api-key': 'a key of the node'
} as const;

export async function openClientNode(settings: Readonly<Record<string, unknown>>): Promise<RestNode> {
  const served = await openChainANode(settings);
  await fillChainAPool(served.node);
  return served;
}
