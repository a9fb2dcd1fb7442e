// How far an index can go back by itself.

import { undoKey } from '../records/undo-record';
import type { BlockPoint } from '../../node/types/chain';
import type { Store } from '../../store/store';

/** How many blocks can be undone: the undo records from the tip down, without a gap. @throws StoreError */
export function undoableBlocks(store: Pick<Store, 'get'>, tip: BlockPoint): number {
  const has = (blocks: number): boolean => blocks <= tip.height && store.get(undoKey(tip.height - blocks + 1)) !== undefined;
  // Undo records are large: instead of reading all of them, steps double first, then a binary search follows.
  let [enough, tooMany] = [0, 1];
  while (has(tooMany)) [enough, tooMany] = [tooMany, tooMany * 2];
  while (tooMany - enough > 1) {
    const middle = Math.floor((enough + tooMany) / 2);
    if (has(middle)) enough = middle;
    else tooMany = middle;
  }
  return enough;
}
