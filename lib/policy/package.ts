// Whether transactions form a package (policy/packages.cpp of Bitcoin Core).

import { keyOf, keyOfOutpoint } from '../bitcoin/hash';
import { LIMITS } from './limits';
import type { ScannedTransaction } from '../bitcoin/transaction';

/** What Bitcoin Core says of a package of which all transactions are in the pool, and of one of which some are refused. */
export const [SUCCESS, ONE_FAILED] = ['success', 'transaction failed'] as const;

/** Why transactions do not form a package, in Bitcoin Core's words; undefined when they do. */
export function packageFault(transactions: readonly ScannedTransaction[]): string | undefined {
  const txids = transactions.map(({ txid }) => keyOf(txid));
  const total = transactions.reduce((sum, { weight }) => sum + weight, 0);
  if (transactions.length > 1 && total > LIMITS.mostPackageWeight) return 'package-too-large';
  if (new Set(txids).size < txids.length) return 'package-contains-duplicates';
  const later = new Set(txids);
  for (const { txid, inputs } of transactions) {
    if (inputs.some((input) => later.has(keyOf(input.txid)))) return 'package-not-sorted';
    later.delete(keyOf(txid));
  }
  const spent = new Set<string>();
  for (const { inputs } of transactions) {
    const outpoints = inputs.map(({ txid, index }) => keyOfOutpoint(txid, index));
    if (outpoints.length === 0 || outpoints.some((outpoint) => spent.has(outpoint))) return 'conflict-in-package';
    for (const outpoint of outpoints) spent.add(outpoint);
  }
  return undefined;
}

/** Whether the last transaction spends outputs of each of the others, and these do not spend from each other. */
export function isChildWithParents(transactions: readonly ScannedTransaction[]): boolean {
  const parents = transactions.slice(0, -1);
  const parentKeys = parents.map(({ txid }) => keyOf(txid));
  const spentByChild = new Set(transactions.at(-1)?.inputs.map(({ txid }) => keyOf(txid)));
  const areAlone = parents.every(({ inputs }) => !inputs.some(({ txid }) => parentKeys.includes(keyOf(txid))));
  return areAlone && parentKeys.every((key) => spentByChild.has(key));
}
