// Taking out a block of an index with a base: coins of the base that it spent come back. Of a block
// of the base itself nobody knows which coins it made: then the base is the block before,
// and what is above it counts no more (base-coins.ts).

import { BASE_KEY, encodeBase, type Base } from '../records/base';
import { restoringBaseWrites, spentBaseKey } from './base-spends';
import { putRecord } from '../records/layout';
import type { BlockPoint } from '../../node/types';
import type { Store, StoreWrite } from '../../store/store';

/** What takes the block at `height` out, with the base after it. `writes`: what does so in any index. @throws DamagedIndexError */
export function withoutBaseBlock(base: Base, height: number, previous: BlockPoint, writes: readonly StoreWrite[], store: Store): { readonly writes: StoreWrite[]; readonly base: Base } {
  const all = [...writes];
  const spentKey = spentBaseKey(height);
  const spent = store.get(spentKey);
  if (spent !== undefined) all.push(...restoringBaseWrites(spentKey, spent), { type: 'del', key: spentKey });
  if (height > base.height) return { writes: all, base };
  const lower = { ...base, ...previous };
  all.push(putRecord(BASE_KEY, encodeBase(lower)));
  return { writes: all, base: lower };
}
