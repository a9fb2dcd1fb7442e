// The rules by which transactions of the pool are replaced (doc/policy/mempool-replacements.md of Bitcoin Core). Transactions
// need not signal that they are replaceable (full RBF). The numbers of rules are those of that document.

import { toDisplayHex } from '../bitcoin/hash';
import { withAncestors, withDescendants, type ClusteredPool, type Member, type PooledNode } from './clustered-pool';
import { feeAt, LIMITS } from './limits';
import { coinsText } from './names';
import { PolicyRefusal } from './refusal';

/** All that leave with the transactions that are in conflict. `txid`: of the replacement. @throws PolicyRefusal (rule 5) */
export function allReplaced(
  conflicts: ReadonlySet<PooledNode>,
  pool: ClusteredPool,
  { txid, reason }: { readonly txid: Buffer; readonly reason: string }
): Set<PooledNode> {
  const clusters = new Set(Array.from(conflicts, (node) => pool.clusterOf(node))).size;
  if (clusters > LIMITS.mostReplacedClusters)
    throw new PolicyRefusal(
      'policy',
      reason,
      `rejecting replacement ${toDisplayHex(txid)}; too many conflicting clusters (${clusters} > ${LIMITS.mostReplacedClusters})`
    );
  return withDescendants(conflicts);
}

export interface ReplacementFees {
  /** Of the replacement: the txid that is named, its fees and virtual bytes. */
  readonly txid: Buffer;
  readonly fee: number;
  readonly size: number;
  /** Satoshis per 1,000 virtual bytes. */
  readonly incrementalRate: number;
  readonly reason: string;
}

/** @throws PolicyRefusal if the replacement pays too little (rules 3 and 4) */
export function checkPaysForReplacement(
  removed: Iterable<PooledNode>,
  { txid, fee, size, incrementalRate, reason }: ReplacementFees
): void {
  let replacedFees = 0;
  for (const { member } of removed) replacedFees += member.modifiedFee;
  const refusal = (why: string, came: number, least: number): PolicyRefusal =>
    new PolicyRefusal('fee', reason, `rejecting replacement ${toDisplayHex(txid)}, ${why}; ${coinsText(came)} < ${coinsText(least)}`);
  if (fee < replacedFees) throw refusal('less fees than conflicting txs', fee, replacedFees);
  const [more, relay] = [fee - replacedFees, feeAt(incrementalRate, size)];
  if (more < relay) throw refusal('not enough additional fees to relay', more, relay);
}

/** What it spends must not be among what it replaces. @throws PolicyRefusal */
export function checkSpendsNoConflict(member: Member, parents: ReadonlySet<PooledNode>, conflicts: ReadonlySet<PooledNode>): void {
  // In Bitcoin Core's order, since one of several may be named.
  const ancestors = [...withAncestors(parents)].sort((a, b) => a.member.txid.compare(b.member.txid));
  for (const ancestor of ancestors)
    if (conflicts.has(ancestor))
      throw new PolicyRefusal(
        'invalid',
        'bad-txns-spends-conflicting-tx',
        `${toDisplayHex(member.txid)} spends conflicting transaction ${toDisplayHex(ancestor.member.txid)}`
      );
}
