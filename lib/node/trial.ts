// Finds out whether the pool would accept transactions, without adding them: the pool's own checks run on an object that looks like the
// pool, but keeps nothing.

import { PolicyRefusal } from '../policy/refusal';
import { UNCONFIRMED, type HostCoinView, type HostMempool, type HostPoolEntry, type HostTransaction } from './host';
import type { OfferedMember } from './broadcaster';
import type { TrialResult } from './types/pool';

/**
 * Tries the transactions one after another, each as if the accepted ones before it had entered the pool. Ignores whether a full pool
 * would drop one. `reasonOf`: finds the reason in an error of the pool.
 */
export async function tryInPool(
  mempool: HostMempool,
  members: readonly OfferedMember[],
  reasonOf: (error: unknown) => string
): Promise<TrialResult[]> {
  const taken: HostTransaction[] = [];
  let entry: HostPoolEntry | undefined;
  const isMissing = ({ inputs }: HostTransaction, view: HostCoinView): boolean => !inputs.every(({ prevout }) => view.hasEntry(prevout));
  const looksLikePool: HostMempool = Object.assign(Object.create(mempool) as HostMempool, {
    addEntry: (added: HostPoolEntry) => {
      entry = added;
      return Promise.resolve();
    },
    limitSize: () => false,
    maybeOrphan: (transaction: HostTransaction, view: HostCoinView) => (isMissing(transaction, view) ? [] : null),
    getCoinView: async (transaction: HostTransaction) => {
      const view = await mempool.getCoinView(transaction);
      for (const parent of taken) view.addTX(parent, UNCONFIRMED);
      return view;
    },
    emit: () => false
  });
  const results: TrialResult[] = [];
  for (const transaction of members) {
    if (transaction instanceof PolicyRefusal) {
      results.push({ type: 'refused', reason: transaction.reason });
      continue;
    }
    const unlock = await mempool.locker.lock();
    try {
      entry = undefined;
      const missing = await looksLikePool.insertTX(transaction, -1);
      // Assigned by `addEntry`, which TypeScript does not see.
      const added = entry as HostPoolEntry | undefined;
      if (missing != null || added === undefined) results.push({ type: 'missing' });
      else {
        taken.push(transaction);
        results.push({ type: 'taken', fee: added.fee, size: added.size });
      }
    } catch (error) {
      results.push({ type: 'refused', reason: reasonOf(error) });
    } finally {
      unlock();
    }
  }
  return results;
}
