// A node that holds chain A and its pool, as programs that speak to Bitcoin Core find it.

import { bcoin } from './bcoin';
import { chainAPool } from './chain-a';
import { openChainANode, type ChainANode } from './chain-a-node';

/** The node's key: a password that goes with any user. */
const API_KEY = 'a key of the node';

/** Of today's edition. */
export const MODERN = { 'rest-core': 'modern', apiKey: API_KEY } as const;

export async function openClientNode(settings: Readonly<Record<string, unknown>>): Promise<ChainANode> {
  const served = await openChainANode(settings);
  for (const raw of chainAPool()) await served.node.mempool.addTX(bcoin.TX.fromRaw(raw));
  return served;
}
