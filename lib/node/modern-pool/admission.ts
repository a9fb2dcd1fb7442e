// Decides whether transactions may enter the pool: all checks of Bitcoin Core 31 in its order, which decides which of two reasons is given
// (MemPoolAccept in validation.cpp). Changes nothing. The pool's lock must be held.

import { keyOf } from '../../bitcoin/hash';
import { scanTransaction, VBYTES_PER_RATE } from '../../bitcoin/transaction';
import { checkDustPaysNothing, dustIn, spendsAllDust, unspentDust } from '../../policy/dust';
import { feeAt } from '../../policy/limits';
import { coinsText } from '../../policy/names';
import { PolicyRefusal, RATE_TOO_HIGH } from '../../policy/refusal';
import { allReplaced, checkPaysForReplacement, checkSpendsNoConflict } from '../../policy/replacement';
import { checkFee, checkSigopCost, checkSpentScripts, checkValues, checkWitnesses } from '../../policy/spending';
import { Staging } from '../../policy/staging';
import { Candidate, Offered, type SpentCoin } from '../../policy/transaction';
import { checkTruc, checkTrucInPackage } from '../../policy/truc';
import { runAhead } from '../../turns/slices';
import { checkFirst } from '../first-checks';
import { toHostLike, UNCONFIRMED, type HostChain, type HostCoinView, type HostMempool, type HostTransaction } from '../host';
import { PackageRefusal } from './package-refusal';
import { spentView } from './spent-view';
import type { OfferedMember } from '../broadcaster';
import type { ClusteredPool, Member, PooledNode } from '../../policy/clustered-pool';
import type { ChangeSet, Checked } from './change-set';
import type { ScriptChecks } from './script-checks';
import type { PoolSettings } from './settings';

/** bcoin's flags for lock times by median time past (BIP113) and relative ones (BIP68). */
export const LOCK_FLAGS = (1 << 0) | (1 << 1);
/** Outputs among which a coin is looked for: a transaction that is in the chain mostly has one there. */
const MOST_LOOKED_FOR = 16;
/** By bcoin's rule a fee above this many times the relay fee is absurd. */
const ABSURD_FACTOR = 10_000;

/** How a transaction comes. */
export interface Terms {
  /** It comes back from a block: it does not have to pay, nor to be alone with its parent. */
  readonly isFromBlock?: boolean;
  readonly mayReplace: boolean;
  /** Whether it may take the place of another child of its parent (TRUC). */
  readonly mayEvictSibling: boolean;
  /** Whether the fee of all together counts. */
  readonly isPackage?: boolean;
  /** The most that the sender wants to pay, in satoshis per 1,000 virtual bytes; 0: no limit. */
  readonly mostRate?: number;
}

export interface AdmissionParts {
  readonly mempool: HostMempool;
  readonly chain: HostChain;
  readonly clusters: ClusteredPool;
  readonly scripts: ScriptChecks;
  readonly settings: PoolSettings;
  /** What a full pool asks for, in satoshis per 1,000 virtual bytes. */
  readonly floor: () => number;
}

export class Admission {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** A transaction that comes alone. @throws PolicyRefusal */
  async single(transaction: HostTransaction, terms: Terms): Promise<ChangeSet> {
    const checked = await this.#check(transaction, terms, []);
    const { candidate, member, parents, conflicts } = checked;
    const { offered } = candidate;
    const staging = new Staging(this.#parts.clusters);
    staging.add(member, spentKeys(offered));
    if (conflicts.size > 0) await this.#checkReplacement(checked, staging);
    if (terms.isFromBlock === true) staging.checkAncestors();
    else staging.checkClusters();
    if (conflicts.size > 0) checkSpendsNoConflict(member, parents, conflicts);
    checkMostRate(checked, terms);
    if (this.#parts.settings.requireStandard && !spendsAllDust(offered, membersOf(parents))) throw unspentDust(offered);
    await this.#parts.scripts.check(checked);
    return { added: [checked], removed: staging.removed };
  }

  /** Several that enter together or not at all, parents first. None is in the pool. @throws PackageRefusal */
  async several(members: readonly OfferedMember[], terms: Terms): Promise<ChangeSet> {
    const all: Checked[] = [];
    for (const offered of members)
      await PackageRefusal.unless(offered, async () => {
        if (offered instanceof PolicyRefusal) throw offered;
        const checked = await this.#check(offered, terms, all);
        checkMostRate(checked, terms);
        all.push(checked);
      });
    for (const { member, parents } of all)
      PackageRefusal.whole(() => {
        checkTrucInPackage(
          member,
          parents,
          all.map(({ candidate }) => candidate)
        );
      });
    const total = { fee: 0, size: 0 };
    for (const { member } of all) {
      total.fee += member.modifiedFee;
      total.size += member.size;
    }
    const last = all.at(-1) as Checked; // there are several
    if (terms.isPackage === true)
      await PackageRefusal.unless(last.transaction, () => {
        checkFee(total.fee, total.size, this.#rates());
      });
    const staging = new Staging(this.#parts.clusters);
    for (const { member, candidate } of all) staging.add(member, spentKeys(candidate.offered));
    if (all.some(({ conflicts }) => conflicts.size > 0)) await this.#checkPackageReplacement(all, staging, total);
    PackageRefusal.whole(() => {
      staging.checkClusters();
    });
    if (this.#parts.settings.requireStandard) this.#checkPackageDust(all);
    for (const [i, checked] of all.entries())
      await PackageRefusal.unless(checked.transaction, () => this.#parts.scripts.check(checked), all.slice(0, i));
    return { added: all, removed: staging.removed };
  }

  /** The checks that are made before a replacement is considered (PreChecks). `before`: of its package. @throws PolicyRefusal */
  async #check(transaction: HostTransaction, terms: Terms, before: readonly Checked[]): Promise<Checked> {
    const { chain, clusters, settings } = this.#parts;
    const offered = new Offered(scanTransaction(transaction.toRaw()));
    checkFirst(offered, { chain, requireStandard: settings.requireStandard });
    if (!(await chain.verifyFinal(chain.tip, transaction, LOCK_FLAGS))) throw new PolicyRefusal('policy', 'non-final');
    this.#checkIsNew(offered);
    const conflicts = this.#conflictsOf(transaction, terms);
    const { view, coins } = await this.#coinsOf(transaction, before);
    if (!(await chain.verifyLocks(chain.tip, transaction, view, LOCK_FLAGS))) throw new PolicyRefusal('policy', 'non-BIP68-final');
    const candidate = new Candidate(offered, coins);
    checkValues(candidate, chain.tip.height + 1);
    if (settings.requireStandard) {
      checkSpentScripts(candidate);
      checkWitnesses(candidate);
      checkDustPaysNothing(candidate);
    }
    checkSigopCost(candidate);
    if (terms.isFromBlock !== true && terms.isPackage !== true) checkFee(candidate.fee, candidate.size, this.#rates());
    this.#checkAbsurdFee(candidate);
    const member = memberOf(candidate);
    // In Bitcoin Core's order, since one of several may be named.
    const parents = new Set([...spentKeys(offered)].sort().flatMap((key) => clusters.get(key) ?? []));
    const sibling = terms.isFromBlock === true ? undefined : this.#siblingOf(member, parents, conflicts, terms);
    return {
      candidate,
      transaction,
      view,
      member,
      parents,
      conflicts: sibling === undefined ? conflicts : new Set([...conflicts, sibling]),
      evictsSibling: sibling !== undefined
    };
  }

  /** A rule of bcoin's, if the operator wants it. @throws PolicyRefusal */
  #checkAbsurdFee({ fee, size }: Candidate): void {
    const { rejectsAbsurdFees, relayRate } = this.#parts.settings;
    if (rejectsAbsurdFees && fee > feeAt(relayRate, size) * ABSURD_FACTOR) throw new PolicyRefusal('policy', 'absurdly-high-fee');
  }

  /** @throws PolicyRefusal */
  #checkIsNew({ key, wtxid }: Offered): void {
    const pooled = this.#parts.clusters.get(key);
    if (pooled === undefined) return;
    throw new PolicyRefusal('known', pooled.member.wtxid.equals(wtxid) ? 'txn-already-in-mempool' : 'txn-same-nonwitness-data-in-mempool');
  }

  /** Those of the pool that spend the same outputs. @throws PolicyRefusal */
  #conflictsOf({ inputs }: HostTransaction, { mayReplace }: Terms): Set<PooledNode> {
    const { mempool, clusters, settings } = this.#parts;
    const conflicts = new Set<PooledNode>();
    for (const { prevout } of inputs) {
      const spender = mempool.getSpent(prevout.hash, prevout.index);
      const node = spender && clusters.get(keyOf(spender.tx.hash()));
      if (node === undefined) continue;
      if (!settings.replaces) throw new PolicyRefusal('policy', 'txn-mempool-conflict');
      if (!mayReplace) throw new PolicyRefusal('policy', 'bip125-replacement-disallowed');
      conflicts.add(node);
    }
    return conflicts;
  }

  /** The coins that it spends, from chain and pool, and from transactions of its package that come before it. @throws PolicyRefusal */
  async #coinsOf(
    transaction: HostTransaction,
    before: readonly Checked[]
  ): Promise<{ readonly view: HostCoinView; readonly coins: readonly SpentCoin[] }> {
    const { mempool } = this.#parts;
    const view = await spentView(mempool, transaction);
    for (const parent of before) view.addTX(parent.transaction, UNCONFIRMED);
    const coins: SpentCoin[] = [];
    for (const { prevout } of transaction.inputs) {
      const output = view.getOutput(prevout);
      if (output === null) {
        if (await this.#isInChain(transaction)) throw new PolicyRefusal('known', 'txn-already-known');
        throw missingInputs();
      }
      const height = view.getHeight(prevout);
      coins.push({
        value: output.value,
        script: output.script.toRaw(),
        height: height === UNCONFIRMED ? undefined : height,
        isCoinbase: view.isCoinbase(prevout)
      });
    }
    return { view, coins };
  }

  /** Whether one of its first outputs is a coin of the chain. Each is looked for on the disk, while all others wait for the pool. */
  async #isInChain(transaction: HostTransaction): Promise<boolean> {
    const { chain } = this.#parts;
    const hash = toHostLike(chain.tip.hash)(transaction.hash());
    for (let i = 0; i < Math.min(transaction.outputs.length, MOST_LOOKED_FOR); i++)
      if ((await chain.getCoin(hash, i)) !== null) return true;
    return false;
  }

  /** The sibling whose place it would take. @throws PolicyRefusal */
  #siblingOf(
    member: Member,
    parents: ReadonlySet<PooledNode>,
    conflicts: ReadonlySet<PooledNode>,
    { mayEvictSibling }: Terms
  ): PooledNode | undefined {
    const found = checkTruc(member, parents, conflicts);
    if (found === undefined) return undefined;
    if (mayEvictSibling && this.#parts.settings.replaces) return found.sibling;
    throw found.refusal;
  }

  /** @throws PolicyRefusal */
  async #checkReplacement({ member, conflicts, evictsSibling }: Checked, staging: Staging): Promise<void> {
    const { clusters, settings } = this.#parts;
    const { txid, modifiedFee: fee, size } = member;
    const addition = evictsSibling ? ' (including sibling eviction)' : '';
    for (const node of allReplaced(conflicts, clusters, { txid, reason: `too many potential replacements${addition}` }))
      staging.removed.add(node);
    const { incrementalRate } = settings;
    checkPaysForReplacement(staging.removed, { txid, fee, size, incrementalRate, reason: `insufficient fee${addition}` });
    staging.checkClusters();
    if (await runAhead(staging.improves())) return;
    throw new PolicyRefusal('fee', 'replacement-failed', NO_IMPROVEMENT, staging.removed.size > MOST_CHEAPLY_REPLACED);
  }

  /** A package may replace if it is one parent with one child, and nothing else. @throws PackageRefusal */
  async #checkPackageReplacement(
    all: readonly Checked[],
    staging: Staging,
    total: { readonly fee: number; readonly size: number }
  ): Promise<void> {
    const { clusters, settings } = this.#parts;
    const [parent, child, ...others] = all;
    if (parent === undefined || child === undefined || others.length > 0)
      throw new PackageRefusal('package RBF failed: package must be 1-parent-1-child');
    if (all.some(({ parents }) => parents.size > 0))
      throw new PackageRefusal('package RBF failed: new transaction cannot have mempool ancestors');
    const conflicts = new Set(all.flatMap((checked) => [...checked.conflicts]));
    const { txid } = child.member;
    PackageRefusal.whole(() => {
      const reason = 'package RBF failed: too many potential replacements';
      for (const node of allReplaced(conflicts, clusters, { txid, reason })) staging.removed.add(node);
      const { incrementalRate } = settings;
      checkPaysForReplacement(staging.removed, {
        txid,
        ...total,
        incrementalRate,
        reason: 'package RBF failed: insufficient anti-DoS fees'
      });
      checkPackageRate(parent.member, total);
      staging.checkClusters();
    });
    if (!(await runAhead(staging.improves()))) throw new PackageRefusal(`package RBF failed: ${NO_IMPROVEMENT}`);
  }

  /** @throws PackageRefusal */
  #checkPackageDust(all: readonly Checked[]): void {
    for (const { candidate, parents, transaction } of all) {
      const { offered } = candidate;
      const inPackage = all.filter(({ member }) => offered.inputs.some(({ txid }) => txid.equals(member.txid)));
      if (spendsAllDust(offered, [...membersOf(parents), ...inPackage.map(({ member }) => member)])) continue;
      throw new PackageRefusal('unspent-dust', new Map([[transaction, unspentDust(offered)]]));
    }
  }

  #rates(): { readonly floor: number; readonly relay: number } {
    return { floor: this.#parts.floor(), relay: this.#parts.settings.relayRate };
  }
}

/** An output that the transaction spends is unknown, or already spent in the chain. */
export const missingInputs = (): PolicyRefusal => new PolicyRefusal('missing', 'bad-txns-inputs-missingorspent');

/** Diagrams of this many transactions take some milliseconds. */
const MOST_CHEAPLY_REPLACED = 100;

const NO_IMPROVEMENT = 'insufficient feerate: does not improve feerate diagram';

/** The keys of the transactions that it spends from. */
const spentKeys = ({ inputs }: Pick<Offered, 'inputs'>): Set<string> => new Set(inputs.map(({ txid }) => keyOf(txid)));

const membersOf = (nodes: Iterable<PooledNode>): Member[] => Array.from(nodes, ({ member }) => member);

function memberOf({ offered, fee, size, weight }: Candidate): Member {
  const { key, txid, wtxid, version, outputs } = offered;
  return { key, txid, wtxid, version, size, weight, modifiedFee: fee, dust: dustIn(outputs) };
}

/** @throws PolicyRefusal */
function checkMostRate({ member: { modifiedFee, size } }: Checked, { mostRate = 0 }: Terms): void {
  if (mostRate > 0 && modifiedFee * VBYTES_PER_RATE > mostRate * size) throw new PolicyRefusal('policy', RATE_TOO_HIGH);
}

/** The child must not pay for nothing but the replacement. @throws PolicyRefusal */
function checkPackageRate(parent: Member, total: { readonly fee: number; readonly size: number }): void {
  if (total.fee * parent.size > parent.modifiedFee * total.size) return;
  const text = (fee: number, size: number): string => `${coinsText(Math.floor((fee * VBYTES_PER_RATE) / size), 8)} BTC/kvB`;
  throw new PolicyRefusal(
    'policy',
    'package RBF failed: package feerate is less than or equal to parent feerate',
    `package feerate ${text(total.fee, total.size)} <= parent feerate is ${text(parent.modifiedFee, parent.size)}`
  );
}
