// The confirmed transactions of an address as far as they were loaded, from the newest one down.

import type { Transaction } from '../data/types';

/**
 * The list with a new answer for its beginning. What was loaded before stays where the answer ends in the same block as it did then: below
 * that, the chain is the same. Otherwise it is forgotten, and loaded again when the reader asks.
 */
export function joined(newest: readonly Transaction[], loaded: readonly Transaction[]): readonly Transaction[] {
  const at = loaded.findIndex((each) => isSame(each, newest.at(-1)));
  return at < 0 ? newest : [...newest, ...loaded.slice(at + 1)];
}

/** The list with the page below one of its transactions, if it still ends with that: meanwhile it may have been forgotten. */
export function continued(loaded: readonly Transaction[], last: Transaction, page: readonly Transaction[]): readonly Transaction[] {
  return isSame(last, loaded.at(-1)) ? [...loaded, ...page] : loaded;
}

/** Whether both are one transaction in one block; each answer has objects of its own. */
const isSame = (a: Transaction, b: Transaction | undefined): boolean => a.txid === b?.txid && a.confirmation?.hash === b.confirmation?.hash;
