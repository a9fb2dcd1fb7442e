// Where the chain turned off from blocks that were its tip: the blocks before them are remembered, for a chain that was reset says nothing of
// what it had.

import { LRUCache } from 'lru-cache';
import { previousHashOf } from '../../bitcoin/header';
import { keyOf } from '../../rest/cache/blocks';
import type { IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types';

/** No reorganization of the main network was nearly as deep. */
const DEPTH = 100;
const MOST_BLOCKS = 10 * DEPTH;

export class Ancestry {
  /** Hash of the block before, by the hash of a block. */
  readonly #before = new LRUCache<string, Buffer>({ max: MOST_BLOCKS });

  /** The tip of this state may be asked for later. */
  remember(index: Pick<IndexSnapshot, 'tip' | 'headerAt'>): void {
    const { tip } = index;
    for (let height = tip.height; height > Math.max(0, tip.height - DEPTH); height--) {
      const block = index.headerAt(height);
      if (block === undefined || this.#before.get(keyOf(block.hash)) !== undefined) return;
      this.#before.set(keyOf(block.hash), previousHashOf(block.header));
    }
  }

  /** Height of the last block that the chain has in common with the one up to a block. Of a block of very long ago it may be too low. */
  forkHeight({ hash, height }: BlockPoint, index: Pick<IndexSnapshot, 'heightOf' | 'tip'>): number {
    for (let known: Buffer | undefined = hash; known !== undefined; known = this.#before.get(keyOf(known))) {
      const found = index.heightOf(known);
      if (found !== undefined) return found;
    }
    return Math.max(0, Math.min(height, index.tip.height) - DEPTH);
  }
}
