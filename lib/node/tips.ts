// The tips of all branches of the node's chain, and the status of each.

import { spentCounts } from '../bitcoin/block';
import { runAtOnce } from '../turns/slices';
import { fromHost, sameHostHash, type HostChain, type HostEntry, type HostHash } from './host';
import type { ChainTip } from './types/chain';
import type { NodeSource } from './types/source';

/** The highest first. */
export async function readChainTips(chain: HostChain, node: Pick<NodeSource, 'rawBlock' | 'spentCoins'>): Promise<ChainTip[]> {
  const tips = await Promise.all((await chain.db.getTips()).map((hash) => readTip(hash, chain, node)));
  return tips.filter((tip) => tip !== undefined).sort((a, b) => b.height - a.height);
}

/** undefined: the chain has dropped the tip meanwhile. */
async function readTip(hash: HostHash, chain: HostChain, node: Pick<NodeSource, 'rawBlock' | 'spentCoins'>): Promise<ChainTip | undefined> {
  const entry = await chain.getEntryByHash(hash);
  if (entry === null) return undefined;
  const point = { hash: fromHost(entry.hash), height: entry.height };
  const branchLength = await branchLengthOf(entry, chain);
  if (branchLength === 0) return { ...point, branchLength, status: 'active' };
  if (chain.invalid.has(entry.hash)) return { ...point, branchLength, status: 'invalid' };
  // The coins that a block spends are written when it is connected, and stay when it is disconnected.
  if ((await node.spentCoins(point.hash)) !== undefined) return { ...point, branchLength, status: 'valid-fork' };
  const raw = await node.rawBlock(point.hash);
  if (raw === undefined) return { ...point, branchLength, status: 'headers-only' };
  // Of a block that spends nothing there is nothing to write.
  const spendsNothing = runAtOnce(spentCounts(raw)).every((count) => count === 0);
  return { ...point, branchLength, status: spendsNothing ? 'valid-fork' : 'valid-headers' };
}

async function branchLengthOf(entry: HostEntry, chain: HostChain): Promise<number> {
  for (let at: HostEntry | null = entry; at !== null; at = await chain.getPrevious(at)) {
    const active = await chain.getHash(at.height);
    if (active !== null && sameHostHash(active, at.hash)) return entry.height - at.height;
  }
  return entry.height;
}
