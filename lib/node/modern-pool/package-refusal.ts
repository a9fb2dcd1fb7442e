// Why a package does not enter the pool.

import { ONE_FAILED } from '../../policy/package';
import { PolicyRefusal } from '../../policy/refusal';
import type { OfferedMember } from '../broadcaster';
import type { Checked } from './change-set';

/**
 * The message is Bitcoin Core's. `refusals`: of the transactions that are to blame; none, if it is the package as a whole. `passed`: those
 * that had passed all checks before.
 */
export class PackageRefusal extends Error {
  override readonly name = 'PackageRefusal';

  constructor(
    message: string,
    readonly refusals: ReadonlyMap<OfferedMember, PolicyRefusal> = new Map(),
    readonly passed: readonly Checked[] = []
  ) {
    super(message);
  }

  /** Whether the package as a whole breaks a rule. */
  get isOfWhole(): boolean {
    return this.refusals.size === 0;
  }

  /** Runs a check of one of them. @throws PackageRefusal */
  static async unless(member: OfferedMember, check: () => void | Promise<void>, passed: readonly Checked[] = []): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof PolicyRefusal)) throw error;
      throw new PackageRefusal(ONE_FAILED, new Map([[member, error]]), passed);
    }
  }

  /** Runs a check of the whole. @throws PackageRefusal */
  static whole(check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof PolicyRefusal)) throw error;
      throw new PackageRefusal(error.message);
    }
  }
}
