// The txids of the latest transactions are in memory until they fill a page.

import { lastPageIn } from '../../../lib/scripts/records/block-txids';
import type { Store } from '../../../lib/store/store';

/** Mines until the txids of the block at the tip have to be read from a page. `mineOne`: one block with one transaction, and waits for the index. */
export async function untilPageIsFull(store: Store, mineOne: () => Promise<unknown>): Promise<void> {
  do await mineOne();
  while (lastPageIn(store).length > 0);
}
