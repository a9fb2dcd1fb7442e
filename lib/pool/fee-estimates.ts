// Estimates of the fee rate for a confirmation within a number of blocks. The node's own estimate is preferred, since it is made from
// confirmations. After a restart the node has none for a while, and it never has any for long waits. Then the pool tells at which fee rate
// a transaction has no more than that many blocks ahead of it. A pool of less than a block tells nothing: it may not be filled yet.

import { MAX_BLOCK_WEIGHT } from '../bitcoin/consensus';
import { VBYTES_PER_RATE, WEIGHT_PER_VBYTE } from '../bitcoin/transaction';
import type { NodeSource } from '../node/types/source';
import type { FeeBin, PoolSummary } from './summary';

const BLOCK_VSIZE = MAX_BLOCK_WEIGHT / WEIGHT_PER_VBYTE;

/** Bitcoin Core's longest target, in blocks. bcoin's is shorter. */
export const LONGEST_TARGET = 1_008;

/** The numbers of blocks for which there are estimates. */
const SHORT_TARGETS = Array.from({ length: 25 }, (_, i) => i + 1);
/** These targets always have an estimate: for so long a wait the least that the pool takes will do. */
const LONG_TARGETS = [144, 504, LONGEST_TARGET];

export interface FeeTarget {
  /** The number of blocks within which a transaction confirms. */
  readonly blocks: number;
  /** Satoshis per virtual byte. */
  readonly rate: number;
}

/**
 * Estimates in ascending order of blocks, without targets that have none. No rate is below that of a longer wait, or below what the pool asks for.
 * On regtest there are none, as in Bitcoin Core before it has seen transactions confirm.
 */
export function feeEstimates(
  node: Pick<NodeSource, 'network' | 'pool' | 'estimateFee'>,
  { vsize, histogram }: Pick<PoolSummary, 'vsize' | 'histogram'>
): FeeTarget[] {
  if (node.network.chain === 'regtest') return [];
  const leastRate = node.pool.info().minFeeRate / VBYTES_PER_RATE;
  const rateOf = (blocks: number): number | undefined => {
    const estimate = node.estimateFee(blocks);
    if (estimate !== undefined) return estimate.rate / VBYTES_PER_RATE;
    return vsize > BLOCK_VSIZE || LONG_TARGETS.includes(blocks) ? (rateAt(histogram, blocks * BLOCK_VSIZE) ?? leastRate) : undefined;
  };
  const targets: FeeTarget[] = [];
  let least = leastRate;
  for (const blocks of [...SHORT_TARGETS, ...LONG_TARGETS].reverse()) {
    const rate = rateOf(blocks);
    if (rate === undefined) continue;
    least = Math.max(least, rate);
    targets.unshift({ blocks, rate: least });
  }
  return targets;
}

/** The fee rate of the transaction with `depth` virtual bytes ahead of it; undefined if the pool has fewer. */
function rateAt(histogram: readonly FeeBin[], depth: number): number | undefined {
  let above = 0;
  return histogram.find(({ vsize }) => (above += vsize) > depth)?.rate;
}
