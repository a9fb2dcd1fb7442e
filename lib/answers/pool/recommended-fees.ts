// Recommended fee rates in the five fields of mempool's interface: whole satoshis per virtual byte, rounded up.

import type { PoolInfo } from '../../node/types';
import type { FeeTarget } from '../../pool/fee-estimates';

export interface RecommendedFees {
  /** For the next block. */
  readonly fastestFee: number;
  readonly halfHourFee: number;
  readonly hourFee: number;
  /** For a confirmation within about a day; at most twice the minimum. */
  readonly economyFee: number;
  /** Transactions that pay less are not relayed. */
  readonly minimumFee: number;
}

const VBYTES_PER_RATE = 1_000;

const [HALF_HOUR, HOUR, DAY] = [3, 6, 144];

/** Without an estimate a fee is the minimum. No fee is below that of a longer wait. `estimates`: in ascending order of blocks. */
export function recommendedFees(
  estimates: readonly FeeTarget[],
  { minFeeRate, minRelayFeeRate }: Pick<PoolInfo, 'minFeeRate' | 'minRelayFeeRate'>
): RecommendedFees {
  const minimumFee = Math.max(1, Math.ceil(Math.max(minFeeRate, minRelayFeeRate) / VBYTES_PER_RATE));
  const feeWithin = (blocks: number): number => Math.ceil(estimates.findLast((one) => one.blocks <= blocks)?.rate ?? 0);
  const economyFee = Math.max(minimumFee, Math.min(2 * minimumFee, feeWithin(DAY)));
  const hourFee = Math.max(economyFee, feeWithin(HOUR));
  const halfHourFee = Math.max(hourFee, feeWithin(HALF_HOUR));
  const fastestFee = Math.max(halfHourFee, feeWithin(1));
  return { fastestFee, halfHourFee, hourFee, economyFee, minimumFee };
}
