// A package that is submitted: a child with its parents. Each is tried alone first; those that fail only because they pay too little, or
// because such a one is missing, are then taken together (AcceptPackage in validation.cpp of Bitcoin Core).

import { ONE_FAILED, SUCCESS } from '../../policy/package';
import { PolicyRefusal } from '../../policy/refusal';
import { PackageRefusal } from './package-refusal';
import { keyOf } from '../../bitcoin/hash';
import type { PackageMember, SubmittedPackage } from '../types/pool';
import type { HostTransaction } from '../host';
import type { OfferedMember } from '../broadcaster';
import type { Admission, Terms } from './admission';
import type { ChangeSet, Checked } from './change-set';
import type { PooledEntries } from './pooled-entries';
import type { PooledNode } from '../../policy/clustered-pool';

export class PackageSubmission {
  readonly #entries: PooledEntries;
  readonly #admission: Admission;
  readonly #offered: readonly OfferedMember[];
  /** The most that the sender wants to pay, in satoshis per 1,000 virtual bytes; 0: no limit. */
  readonly #mostRate: number;
  readonly #results = new Map<OfferedMember, PackageMember>();
  readonly #replaced = new Set<PooledNode>();

  constructor(entries: PooledEntries, admission: Admission, offered: readonly OfferedMember[], mostRate: number) {
    this.#entries = entries;
    this.#admission = admission;
    this.#offered = offered;
    this.#mostRate = mostRate;
  }

  /** To be called once, with the pool locked. Refusals are in the result, other errors pass. */
  async submit(): Promise<SubmittedPackage> {
    const together = await this.#submitEach();
    const message = together === undefined ? ONE_FAILED : await this.#submitTogether(together);
    await this.#entries.limitSize();
    const members = this.#offered.map((each) => this.#memberOf(each));
    const isFull = members.some((member) => member.type === 'refused' && member.reason === FULL.reason);
    return {
      message: isFull ? ONE_FAILED : message,
      members,
      replaced: Array.from(this.#replaced, ({ member }) => member.txid).sort((a, b) => a.compare(b))
    };
  }

  /** Tries each alone. Returns those that may enter together; undefined: one is refused for another reason. */
  async #submitEach(): Promise<HostTransaction[] | undefined> {
    const together: HostTransaction[] = [];
    let isRefused = false;
    for (const transaction of this.#offered) {
      if (transaction instanceof PolicyRefusal) {
        this.#results.set(transaction, refused(transaction));
        isRefused = true;
        continue;
      }
      const pooled = this.#pooled(transaction);
      if (pooled !== undefined) {
        this.#results.set(transaction, pooled);
        continue;
      }
      try {
        await this.#carryOut(await this.#admission.single(transaction, this.#terms({ mayEvictSibling: true })));
      } catch (error) {
        if (!(error instanceof PolicyRefusal)) throw error;
        this.#results.set(transaction, refused(error));
        const mayPass = this.#offered.length > 1 && (error.kind === 'fee' || error.kind === 'missing');
        if (mayPass) together.push(transaction);
        else isRefused = true;
      }
    }
    return isRefused ? undefined : together;
  }

  /** Returns the message for the package. */
  async #submitTogether(transactions: readonly HostTransaction[]): Promise<string> {
    const [first, ...others] = transactions;
    if (first === undefined) return SUCCESS;
    try {
      // One that is left over had to pass alone.
      if (others.length === 0) return ONE_FAILED;
      await this.#carryOut(await this.#admission.several(transactions, this.#terms({ mayEvictSibling: false, isPackage: true })));
      return SUCCESS;
    } catch (error) {
      if (!(error instanceof PackageRefusal)) throw error;
      for (const [transaction, refusal] of error.refusals) this.#results.set(transaction, refused(refusal));
      return error.message;
    }
  }

  async #carryOut(change: ChangeSet): Promise<void> {
    await this.#entries.carryOut(change);
    const { added, removed } = change;
    for (const node of removed) this.#replaced.add(node);
    const effective = {
      fee: added.reduce((sum, { member }) => sum + member.modifiedFee, 0),
      size: added.reduce((sum, { member }) => sum + member.size, 0),
      wtxids: added.map(({ member }) => member.wtxid)
    };
    for (const checked of added) this.#results.set(checked.transaction, { type: 'entered', ...sizesOf(checked), effective });
  }

  #terms(more: Pick<Terms, 'mayEvictSibling' | 'isPackage'>): Terms {
    return { mayReplace: true, mostRate: this.#mostRate, ...more };
  }

  /** As the pool has it already. */
  #pooled(transaction: HostTransaction): PackageMember | undefined {
    const member = this.#entries.clusters.get(keyOf(transaction.hash()))?.member;
    if (member === undefined) return undefined;
    if (!member.wtxid.equals(transaction.witnessHash())) return { type: 'pooled with another witness', wtxid: member.wtxid };
    return { type: 'pooled', fee: this.#entries.feeOf(member), size: member.size, weight: transaction.getWeight() };
  }

  /** A full pool may have dropped it since it entered. */
  #memberOf(transaction: OfferedMember): PackageMember {
    const member = this.#results.get(transaction) as PackageMember; // each was tried
    if (transaction instanceof PolicyRefusal) return member;
    return member.type === 'refused' || this.#entries.has({ key: keyOf(transaction.hash()) }) ? member : refused(FULL);
  }
}

const FULL = new PolicyRefusal('policy', 'mempool full');

const refused = ({ reason, details }: PolicyRefusal): PackageMember => ({ type: 'refused', reason, details });

const sizesOf = ({
  candidate: { fee, size, offered }
}: Checked): { readonly fee: number; readonly size: number; readonly weight: number } => ({
  fee,
  size,
  weight: offered.transaction.weight
});
