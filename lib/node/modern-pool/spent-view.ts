import type { HostCoinView, HostMempool, HostTransaction } from '../host';

/** The coins that a transaction spends, from chain and pool, even if others of the pool spend them. The pool's lock must be held. */
export async function spentView(mempool: HostMempool, transaction: HostTransaction): Promise<HostCoinView> {
  // In 2.x `getCoinView` leaves out outputs of the pool that are spent there.
  return mempool._getSpentView?.(transaction) ?? mempool.getCoinView(transaction);
}
