// Finds where the chain forked from blocks that were once its tip. The ancestors of these blocks are remembered: after a chain reset
// they can no longer be looked up.

import { LRUCache } from 'lru-cache';
import { keyOf } from '../../bitcoin/hash';
import { previousHashOf } from '../../bitcoin/header';
import type { IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types/chain';

/** No reorganization of the main network was nearly as deep. */
const DEPTH = 100;
const MOST_BLOCKS = 10 * DEPTH;

export class Ancestry {
  /** The hash of a block's parent, by the block's hash. */
  readonly #before = new LRUCache<string, Buffer>({ max: MOST_BLOCKS });

  /** Remembers the ancestors of a tip, so that `forkHeight` can be asked for it later. */
  remember(index: Pick<IndexSnapshot, 'tip' | 'headerAt'>): void {
    const { tip } = index;
    for (let height = tip.height; height > Math.max(0, tip.height - DEPTH); height--) {
      const block = index.headerAt(height);
      if (block === undefined || this.#before.get(keyOf(block.hash)) !== undefined) return;
      this.#before.set(keyOf(block.hash), previousHashOf(block.header));
    }
  }

  /** Height of the last ancestor of a block that is in the chain now. It may be too low for a block that was the tip very long ago. */
  forkHeight({ hash, height }: BlockPoint, index: Pick<IndexSnapshot, 'heightOf' | 'tip'>): number {
    for (let known: Buffer | undefined = hash; known !== undefined; known = this.#before.get(keyOf(known))) {
      const found = index.heightOf(known);
      if (found !== undefined) return found;
    }
    return Math.max(0, Math.min(height, index.tip.height) - DEPTH);
  }
}
