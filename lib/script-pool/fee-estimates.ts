// Estimates of what to pay for a confirmation within so many blocks. The node's own estimate goes first, since it is made from
// confirmations. After a restart the node has none for a while, and never any for long waits: there the pool says at which fee rate no
// more than so many blocks would go first. A pool of less than a block says nothing, since it may just not have been filled yet.

import type { NodeSource } from '../node/types';
import type { FeeBin, PoolSummary } from './pool-summary';

const BLOCK_VSIZE = 1_000_000;
const VBYTES_PER_RATE = 1_000;

/** For how many blocks there are estimates. */
const SHORT_TARGETS = Array.from({ length: 25 }, (_, i) => i + 1);
/** For these there always is one: who can wait so long may pay the relay fee. */
const LONG_TARGETS = [144, 504, 1_008];

export interface FeeTarget {
  /** Within so many blocks. */
  readonly blocks: number;
  /** Satoshis for each virtual byte. */
  readonly rate: number;
}

/**
 * Estimates by blocks, upwards; targets without one are left out. No rate is below that of a longer wait, nor below the relay fee. On
 * regtest there are none, as Bitcoin Core has none before it has seen transactions confirm.
 */
export function feeEstimates(
  node: Pick<NodeSource, 'network' | 'pool' | 'estimateFee'>,
  { vsize, histogram }: Pick<PoolSummary, 'vsize' | 'histogram'>
): FeeTarget[] {
  if (node.network.chain === 'regtest') return [];
  const relayRate = node.pool.info().minRelayFeeRate / VBYTES_PER_RATE;
  const rateOf = (blocks: number): number | undefined => {
    const estimate = node.estimateFee(blocks);
    if (estimate !== undefined) return estimate.rate / VBYTES_PER_RATE;
    return vsize > BLOCK_VSIZE || LONG_TARGETS.includes(blocks) ? (rateAt(histogram, blocks * BLOCK_VSIZE) ?? relayRate) : undefined;
  };
  const targets: FeeTarget[] = [];
  let least = relayRate;
  for (const blocks of [...SHORT_TARGETS, ...LONG_TARGETS].reverse()) {
    const rate = rateOf(blocks);
    if (rate === undefined) continue;
    least = Math.max(least, rate);
    targets.unshift({ blocks, rate: least });
  }
  return targets;
}

/** The fee rate of the transaction that has `depth` virtual bytes above it; undefined: the pool has fewer. */
function rateAt(histogram: readonly FeeBin[], depth: number): number | undefined {
  let above = 0;
  return histogram.find(({ vsize }) => (above += vsize) > depth)?.rate;
}
