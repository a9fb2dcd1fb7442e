// Topologically restricted transactions (TRUC, version 3, BIP431): at most one unconfirmed parent or one unconfirmed child, and a child is
// small. A child may take the place of its sibling (policy/truc_policy.cpp of Bitcoin Core).

import { withAncestors, withDescendants, type Member, type PooledNode } from './clustered-pool';
import { LIMITS } from './limits';
import { namesOf } from './names';
import { PolicyRefusal } from './refusal';
import type { Offered } from './transaction';

/** A transaction with at most this many ancestors or descendants, itself included. */
const MOST_RELATIVES = 2;

const isTruc = ({ version }: Pick<Member, 'version'>): boolean => version === LIMITS.trucVersion;

/**
 * Checks a transaction that enters alone. `conflicts`: those that it conflicts with directly.
 * @returns the child of its parent whose place it may take, by the rules of replacement, and why it is refused otherwise
 * @throws PolicyRefusal
 */
export function checkTruc(
  member: Member,
  parents: ReadonlySet<PooledNode>,
  conflicts: ReadonlySet<PooledNode>
): { readonly sibling: PooledNode; readonly refusal: PolicyRefusal } | undefined {
  for (const { member: parent } of parents) requireSameKind(member, parent);
  if (!isTruc(member)) return undefined;
  requireSize(member);
  const [parent] = parents;
  if (parent === undefined) return undefined;
  if (parents.size + 1 > MOST_RELATIVES || withAncestors([parent]).size + 1 > MOST_RELATIVES) throw tooManyAncestors(member);
  requireChildSize(member);
  const descendants = withDescendants([parent]);
  descendants.delete(parent);
  if (descendants.size + 2 <= MOST_RELATIVES || [...descendants].some((child) => conflicts.has(child))) return undefined;
  // After a reorganization there may be more, or such that spend from several: nobody can tell which one to evict.
  const [sibling] = descendants;
  if (sibling !== undefined && descendants.size === 1 && withAncestors([sibling]).size === MOST_RELATIVES)
    return { sibling, refusal: tooManyDescendants(parent.member) };
  throw tooManyDescendants(parent.member);
}

/** Checks one transaction of a package. `parents`: those in the pool. @throws PolicyRefusal */
export function checkTrucInPackage(member: Member, parents: ReadonlySet<PooledNode>, all: readonly { readonly offered: Offered }[]): void {
  const spendsFrom = (offered: Offered, { txid }: Pick<Member, 'txid'>): boolean => offered.inputs.some((input) => input.txid.equals(txid));
  const { offered: own } = all.find(({ offered }) => offered.key === member.key) as { readonly offered: Offered }; // it is in the package
  const inPackage = all.filter(({ offered }) => spendsFrom(own, offered));
  const ofPool = Array.from(parents, (parent) => parent.member);
  const allParents = [...ofPool, ...inPackage.map(({ offered }) => offered)];
  if (!isTruc(member)) {
    for (const parent of allParents) requireSameKind(member, parent);
    return;
  }
  const [parent] = allParents;
  if (allParents.length + 1 > MOST_RELATIVES) throw tooManyAncestors(member);
  const [pooled] = parents;
  if (pooled !== undefined && withAncestors([pooled]).size + 1 > MOST_RELATIVES) throw tooManyAncestors(member);
  if (parent === undefined) return;
  requireChildSize(member);
  requireSameKind(member, parent);
  for (const { offered } of all) {
    if (offered === own) continue;
    if (spendsFrom(offered, parent)) throw tooManyDescendants(parent);
    if (spendsFrom(offered, member)) throw tooManyAncestors(offered);
  }
  if (pooled !== undefined && withDescendants([pooled]).size >= MOST_RELATIVES) throw tooManyDescendants(parent);
}

type NamedMember = Pick<Member, 'txid' | 'wtxid' | 'version'>;

/** @throws PolicyRefusal */
function requireSameKind(child: NamedMember, parent: NamedMember): void {
  if (isTruc(child) === isTruc(parent)) return;
  const [of, from] = isTruc(child) ? ['version=3', 'non-version=3'] : ['non-version=3', 'version=3'];
  throw violation(`${of} ${namesOf(child)} cannot spend from ${from} ${namesOf(parent)}`);
}

/** @throws PolicyRefusal */
function requireSize(member: Member): void {
  if (member.size > LIMITS.mostTrucSize)
    throw violation(`version=3 ${namesOf(member)} is too big: ${member.size} > ${LIMITS.mostTrucSize} virtual bytes`);
}

/** @throws PolicyRefusal */
function requireChildSize(member: Member): void {
  if (member.size > LIMITS.mostTrucChildSize)
    throw violation(`version=3 child ${namesOf(member)} is too big: ${member.size} > ${LIMITS.mostTrucChildSize} virtual bytes`);
}

const tooManyAncestors = (one: NamedMember): PolicyRefusal => violation(`${namesOf(one)} would have too many ancestors`);

const tooManyDescendants = (one: NamedMember): PolicyRefusal => violation(`${namesOf(one)} would exceed descendant count limit`);

const violation = (details: string): PolicyRefusal => new PolicyRefusal('policy', 'TRUC-violation', details);
