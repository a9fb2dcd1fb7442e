// A change of the pool that has passed all checks.

import type { Member, PooledNode } from '../../policy/clustered-pool';
import type { HostCandidate } from './script-checks';

/** A transaction that has passed the checks without scripts. */
export interface Checked extends HostCandidate {
  readonly member: Member;
  /** In the pool. */
  readonly parents: ReadonlySet<PooledNode>;
  /** Those of the pool that it conflicts with, and the sibling whose place it takes. */
  readonly conflicts: ReadonlySet<PooledNode>;
  readonly evictsSibling: boolean;
}

/** What becomes of the pool. */
export interface ChangeSet {
  /** Parents first. */
  readonly added: readonly Checked[];
  readonly removed: ReadonlySet<PooledNode>;
}
