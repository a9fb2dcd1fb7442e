// Fees in the pool, and fee estimates: computed once for the clients of all interfaces.

import { feeEstimates, type FeeTarget } from '../../pool/fee-estimates';
import { PoolView } from './pool-view';
import type { NodeSource } from '../../node/types/source';
import type { ScriptPool } from '../../pool/by-script/script-pool';
import type { PoolSummary } from '../../pool/summary';

/** How old the summary of a large pool may be. */
const SUMMARY_MS = 10_000;

const ESTIMATES_MS = 60_000;

export type FeeNode = Pick<NodeSource, 'network' | 'pool' | 'estimateFee'>;

export class PoolFees {
  readonly #node: FeeNode;
  readonly #summary: PoolView<PoolSummary>;
  #estimates: readonly FeeTarget[] = [];
  #madeAt = -Infinity;

  constructor(node: FeeNode, pool: Pick<ScriptPool, 'revision' | 'size' | 'summary'>) {
    this.#node = node;
    this.#summary = new PoolView(pool, () => pool.summary(), { lateMs: SUMMARY_MS });
  }

  /** The figures of the pool; those of a large pool may be up to ten seconds old. A promise only if they are not known yet. */
  summary(): PoolSummary | Promise<PoolSummary> {
    return this.#summary.get();
  }

  /** Estimates in ascending order of blocks; up to a minute old. A promise only if they are not known yet. */
  estimates(): readonly FeeTarget[] | Promise<readonly FeeTarget[]> {
    return performance.now() - this.#madeAt < ESTIMATES_MS ? this.#estimates : this.#estimate();
  }

  async #estimate(): Promise<readonly FeeTarget[]> {
    this.#estimates = feeEstimates(this.#node, await this.summary());
    this.#madeAt = performance.now();
    return this.#estimates;
  }
}
