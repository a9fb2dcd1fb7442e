// bcoin's class of pool entries, which is not exported by the running node: a pool that takes anything shows an entry of it.

import type { HostCoinView, HostMempool, HostPoolEntry, HostPoolEntryClass, HostTransaction } from '../host';

/** Any transaction and its coins will do. */
export async function findEntryClass(mempool: HostMempool, transaction: HostTransaction, view: HostCoinView): Promise<HostPoolEntryClass> {
  const shown: HostPoolEntry[] = [];
  const takesAnything = Object.assign(Object.create(Object.getPrototypeOf(mempool) as object) as HostMempool, {
    options: { requireStandard: false, prematureWitness: true },
    chain: { height: 0, state: { hasCSV: () => true, hasWitness: () => true }, hasCoins: () => false },
    verifyFinal: () => true,
    exists: () => false,
    isDoubleSpend: () => false,
    getCoinView: () => view,
    maybeOrphan: () => null,
    verify: () => undefined,
    addEntry: (entry: HostPoolEntry) => shown.push(entry),
    limitSize: () => false
  });
  await takesAnything.insertTX(transaction, -1);
  const [found] = shown;
  if (found === undefined) throw new Error('the node has shown no entry of its pool');
  return found.constructor as unknown as HostPoolEntryClass;
}
