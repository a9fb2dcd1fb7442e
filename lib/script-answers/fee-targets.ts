// What to pay for a confirmation soon or late, found out once for all who ask within a minute.

import { feeEstimates, type FeeTarget } from '../script-pool/fee-estimates';
import type { NodeSource } from '../node/types';
import type { PoolSummary } from '../script-pool/pool-summary';
import type { PoolView } from './pool-view';

const KEPT_MS = 60_000;

export class FeeTargets {
  readonly #node: NodeSource;
  readonly #summary: PoolView<PoolSummary>;
  #targets: readonly FeeTarget[] = [];
  #madeAt = -Infinity;

  constructor(node: NodeSource, summary: PoolView<PoolSummary>) {
    this.#node = node;
    this.#summary = summary;
  }

  /** By blocks, upwards. */
  async get(): Promise<readonly FeeTarget[]> {
    if (performance.now() - this.#madeAt >= KEPT_MS) {
      this.#targets = feeEstimates(this.#node, await this.#summary.get());
      this.#madeAt = performance.now();
    }
    return this.#targets;
  }
}
