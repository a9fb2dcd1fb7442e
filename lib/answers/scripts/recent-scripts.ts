// Scripts that blocks at the tip pay to.

import { scanBlock } from '../../bitcoin/block';
import { keyOf, scriptHashOf } from '../../bitcoin/hash';
import type { NodeSource } from '../../node/types';

/** Blocks that are read for them. */
const MOST_BLOCKS = 20;

/** At most `most` different ones, each its SHA-256; fewer if the node lacks blocks. */
export async function recentScripts(node: Pick<NodeSource, 'tip' | 'activeHash' | 'rawBlock'>, most: number): Promise<Buffer[]> {
  const found = new Map<string, Buffer>();
  const { height: tip } = node.tip();
  for (let height = tip; height > Math.max(0, tip - MOST_BLOCKS) && found.size < most; height--) {
    const hash = await node.activeHash(height);
    const raw = hash && (await node.rawBlock(hash));
    if (raw === undefined) break;
    for (const { outputs } of scanBlock(raw).transactions.slice(0, most))
      for (const { script } of outputs) {
        const scriptHash = scriptHashOf(script);
        found.set(keyOf(scriptHash), scriptHash);
      }
  }
  return [...found.values()].slice(0, most);
}
