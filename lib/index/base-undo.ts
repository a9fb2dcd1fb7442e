// Taking out a block of an index with a base: coins of the base that it spent come back, and a
// block of the base itself takes its own coins with it; then the base is the block before.

import { BASE_KEY, encodeBase, type Base } from './base';
import { baseCoinsOf, restoringBaseWrites, spentBaseKey } from './base-coins';
import { placeKey, putRecord, TXID_HASH_LENGTH } from './layout';
import type { BlockPoint } from '../node/types';
import type { Store, StoreWrite } from '../store/store';

const [PLACE_LETTER] = placeKey(Buffer.alloc(TXID_HASH_LENGTH));

/** What takes the block at `height` out, with the base after it. `writes`: what does so in any index. @throws DamagedIndexError */
export async function withoutBaseBlock(base: Base, height: number, previous: BlockPoint, writes: readonly StoreWrite[], store: Store): Promise<{ readonly writes: StoreWrite[]; readonly base: Base }> {
  const all = [...writes];
  const isOfBase = height <= base.height;
  if (isOfBase) {
    // The places that go are those of the block's transactions.
    for (const { type, key } of writes)
      if (type === 'del' && key[0] === PLACE_LETTER)
        for await (const [coinKey] of store.range(baseCoinsOf(key.subarray(1)))) all.push({ type: 'del', key: coinKey });
  }
  const spentKey = spentBaseKey(height);
  const spent = store.get(spentKey);
  if (spent !== undefined) all.push(...restoringBaseWrites(spentKey, spent), { type: 'del', key: spentKey });
  if (!isOfBase) return { writes: all, base };
  const lower = { ...base, ...previous };
  all.push(putRecord(BASE_KEY, encodeBase(lower)));
  return { writes: all, base: lower };
}
