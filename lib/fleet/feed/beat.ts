// What the leading node says about itself.

import type { BlockPoint } from '../../node/types/chain';
import type { FeeEstimate, NodeSource } from '../../node/types/source';
import type { Beat } from '../messages/records';

/** Texts in which the node is warned of its chain. */
const MOST_WARNINGS = 20;

export interface BeatParts {
  readonly node: NodeSource;
  /** What is wrong with the node's chain. */
  readonly warnings: () => readonly string[];
  /** Version of this package. */
  readonly release: string;
}

/** `tip`: the log's. */
export function beatOf({ node, warnings, release }: BeatParts, tip: BlockPoint): Beat {
  const { mostDataCarrierBytes, usage, maxUsage, minFeeRate, minRelayFeeRate, replaces, size, bytes } = node.pool.info();
  return {
    type: 'beat',
    tip,
    synced: node.synced,
    verified: node.progress().verified,
    pool: { mostDataCarrierBytes, usage, maxUsage, minFeeRate, minRelayFeeRate, replaces, size, bytes },
    network: node.networkStatus(),
    fees: feesOf(node),
    mostFeeBlocks: node.mostFeeBlocks,
    warnings: warnings().slice(0, MOST_WARNINGS),
    release,
    pruned: node.pruned
  };
}

/** All that `estimateFee` answers, each answer once. */
function feesOf(node: NodeSource): FeeEstimate[] {
  const fees: FeeEstimate[] = [];
  for (let blocks = 1; blocks <= node.mostFeeBlocks;) {
    const estimate = node.estimateFee(blocks);
    if (estimate === undefined) break;
    fees.push(estimate);
    blocks = estimate.blocks + 1;
  }
  return fees;
}
