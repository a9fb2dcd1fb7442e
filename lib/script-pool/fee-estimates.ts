// What to pay for a confirmation within so many blocks. The node's own estimate goes first: it has seen blocks confirm. After a restart it has
// none for a while, and never any for long waits: there the pool says what has to be paid to have only so many blocks' worth above oneself. A
// pool of less than a block says nothing, for it may just not have been filled yet.

import type { NodeSource } from '../node/types';
import type { FeeBin, PoolSummary } from './pool-summary';

const BLOCK_VSIZE = 1_000_000;
const VBYTES_PER_RATE = 1_000;

/** Blocks that one may wait. */
const SHORT_TARGETS = Array.from({ length: 25 }, (_, i) => i + 1);
/** For these there always is an answer: who can wait so long may pay what the node relays for. */
const LONG_TARGETS = [144, 504, 1_008];

export interface FeeTarget {
  /** Within so many blocks. */
  readonly blocks: number;
  /** Satoshis for each virtual byte. */
  readonly rate: number;
}

/**
 * By blocks, upwards; those without an estimate are left out. No rate is below that of a longer wait, nor below what the node relays for. On
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

/** What the transaction pays that has so many virtual bytes above it; undefined: there are not so many. */
function rateAt(histogram: readonly FeeBin[], depth: number): number | undefined {
  let above = 0;
  return histogram.find(({ vsize }) => (above += vsize) > depth)?.rate;
}
