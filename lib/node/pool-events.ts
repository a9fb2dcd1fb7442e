// The pool's events as one RxJS stream.

import { fromEventPattern, map, merge, type Observable } from 'rxjs';
import type { HostChain, HostMempool, HostPoolEntry } from './host';
import type { PoolEvent } from './types';

/** Every transaction that enters or leaves the pool, and its being emptied. */
export function poolEvents(mempool: HostMempool, chain: HostChain): Observable<PoolEvent> {
  const entries = (event: string): Observable<HostPoolEntry> => fromEventPattern(
    (listener) => mempool.on(event, listener),
    (listener) => mempool.removeListener(event, listener)
  );
  const resets = fromEventPattern(
    (listener) => chain.on('reset', listener),
    (listener) => chain.removeListener('reset', listener)
  );
  return merge(
    entries('add entry').pipe(map(({ tx }): PoolEvent => ({ type: 'add', txid: tx.hash() }))),
    entries('remove entry').pipe(map(({ tx }): PoolEvent => ({ type: 'remove', txid: tx.hash() }))),
    // A reset empties the pool without a word about its entries.
    resets.pipe(map((): PoolEvent => ({ type: 'clear' })))
  );
}
