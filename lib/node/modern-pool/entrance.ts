// Today's pool as the service uses it: refusals are in Bitcoin Core's words.

import { PolicyRefusal } from '../../policy/refusal';
import { MissingOutputsError, TransactionRefusedError } from '../errors';
import { PackageRefusal } from './package-refusal';
import type { Entrance, OfferedMember } from '../broadcaster';
import type { HostTransaction } from '../host';
import type { SubmittedPackage, TrialResult, Trials } from '../types/pool';
import type { Checked } from './change-set';
import type { ModernPool } from './modern-pool';

export class ModernEntrance implements Entrance {
  readonly #pool: ModernPool;

  constructor(pool: ModernPool) {
    this.#pool = pool;
  }

  async add(transaction: HostTransaction, mostRate: number): Promise<void> {
    try {
      await this.#pool.add(transaction, mostRate);
    } catch (error) {
      throw error instanceof PolicyRefusal ? this.refused(error) : error;
    }
  }

  async try(members: readonly OfferedMember[]): Promise<Trials> {
    const [first, ...others] = members;
    if (first === undefined) return { results: [] };
    try {
      const { added } = await (others.length === 0 ? this.#pool.try(first) : this.#pool.tryTogether(members));
      return { results: added.map(taken) };
    } catch (error) {
      if (error instanceof PolicyRefusal) return { results: [trialOf(error)] };
      if (!(error instanceof PackageRefusal)) throw error;
      const results = members.map((member, i) => {
        const refusal = error.refusals.get(member);
        const passed = error.passed[i];
        return refusal === undefined ? passed && taken(passed) : trialOf(refusal);
      });
      return error.isOfWhole ? { results, fault: error.message } : { results };
    }
  }

  submit = (members: readonly OfferedMember[], mostRate: number): Promise<SubmittedPackage> => this.#pool.submit(members, mostRate);

  refused(refusal: PolicyRefusal): TransactionRefusedError {
    const { kind, reason, message } = refusal;
    if (kind === 'missing') return new MissingOutputsError(message, { cause: refusal });
    return new TransactionRefusedError(reason, { cause: refusal, words: { reason, message } });
  }
}

const taken = ({ candidate: { fee, size } }: Checked): TrialResult => ({ type: 'taken', fee, size });

function trialOf({ kind, reason, message }: PolicyRefusal): TrialResult {
  if (kind === 'missing') return { type: 'missing' };
  return { type: 'refused', reason, words: { reason, message } };
}
