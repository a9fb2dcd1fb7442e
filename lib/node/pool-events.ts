// What happens to bcoin's pool.

import { map, merge, type Observable } from 'rxjs';
import { occurrences } from './events';
import { BcoinPoolTransaction } from './pool-entry';
import type { FollowedBlock } from './followed-block';
import type { HostChain, HostCoinView, HostMempool, HostPoolEntry, HostTransaction } from './host';
import type { ModernPool } from './modern-pool/modern-pool';
import type { PoolAddition, PoolEvent } from './types/pool';

/** An event for every transaction that enters or leaves the pool, and whenever the pool is emptied. */
export function poolEvents(
  mempool: HostMempool,
  chain: HostChain,
  followed: FollowedBlock,
  modern: ModernPool | undefined
): Observable<PoolEvent> {
  let leaving: readonly Buffer[] = [];
  /** The transaction of a block that displaces what leaves. */
  let displacing: HostTransaction | undefined;
  const removeDoubleSpends = mempool.removeDoubleSpends.bind(mempool);
  mempool.removeDoubleSpends = (transaction) => {
    displacing = transaction;
    try {
      removeDoubleSpends(transaction);
    } finally {
      displacing = undefined;
    }
  };
  // A reset empties the pool without an event for each entry. What it has is asked for before the pool hears of the reset.
  chain.prependListener('reset', () => {
    leaving = Array.from(mempool.map.values(), ({ tx }) => tx.hash());
  });
  return merge(
    // Emitted for each entry, including those that a reorganization puts back, and with the coins, unlike 'add entry'.
    occurrences<[HostTransaction, HostCoinView]>(mempool, 'tx').pipe(map(([tx, view]) => new BcoinPoolAddition(tx, view))),
    occurrences<HostPoolEntry>(mempool, 'remove entry').pipe(
      map(({ tx }): PoolEvent => {
        const replacement = (displacing ?? modern?.entries.replacement)?.hash();
        return { type: 'remove', txid: tx.hash(), isConfirmed: followed.confirms(tx), ...(replacement && { replacement }) };
      })
    ),
    occurrences(chain, 'reset').pipe(map((): PoolEvent => ({ type: 'clear', txids: leaving })))
  );
}

class BcoinPoolAddition extends BcoinPoolTransaction implements PoolAddition {
  readonly type = 'add';
}
