// The confirmed transactions of an address as far as they were loaded, from the newest one down.

import type { Transaction } from '../data/types';

/**
 * The list with a new answer for its beginning. What was loaded before stays where the answer ends in the same block as it did then: below
 * that, the chain is the same. Otherwise it is forgotten, and loaded again when the reader asks.
 */
export function joined(newest: readonly Transaction[], loaded: readonly Transaction[]): readonly Transaction[] {
  const last = newest.at(-1);
  const at = loaded.findIndex(({ txid, confirmation }) => txid === last?.txid && confirmation?.hash === last.confirmation?.hash);
  return at < 0 ? newest : [...newest, ...loaded.slice(at + 1)];
}
