// Verifies the hashes over what blocks spend. They may be missing: only readers of a fleet, and nodes that feed one, make them. Those of
// blocks that have left the chain are only checked against their checksums.

import { recordOf } from '../../../../lib/index/records/layout';
import { SPENT_HASHES } from '../../../../lib/index/records/spent-hash';
import type { StoreDifference } from '../../../../lib/store/compare';
import type { Store } from '../../../../lib/store/store';

/**
 * The first difference in key order. `fresh`: has the hashes of all blocks of the chain. `onRecord`: called for each record that
 * is the same; may throw to end the comparison.
 * @throws DamagedIndexError
 */
export async function differentSpentHash(fresh: Store, store: Store, onRecord: () => void): Promise<StoreDifference | undefined> {
  for await (const [key, found] of store.range(SPENT_HASHES)) {
    const expected = fresh.get(key);
    if (expected === undefined) recordOf(key, found);
    else if (!found.equals(expected)) return { key, expected, found };
    onRecord();
  }
  return undefined;
}
