// Recommended fee rates in the five fields of mempool's interface, from the medians of the next blocks, in the steps of its backend
// (fee-api.ts).

import { VBYTES_PER_RATE, WEIGHT_PER_VBYTE } from '../../bitcoin/transaction';
import { described, named, object, type Schema } from '../../describe/schema';
import { NUMBER } from '../../describe/values';
import type { PoolInfo } from '../../node/types/pool';
import type { FeeStatistics } from '../../pool/projection/fee-statistics';

/** In satoshis per virtual byte. */
export interface RecommendedFees {
  /** For the next block. */
  readonly fastestFee: number;
  readonly halfHourFee: number;
  readonly hourFee: number;
  /** At most twice the minimum. */
  readonly economyFee: number;
  /** Transactions that pay less are not relayed. */
  readonly minimumFee: number;
}

/** As much of a projected block as recommendations are made of. */
export interface PayingBlock {
  readonly weight: number;
  readonly statistics: Pick<FeeStatistics, 'median'>;
}

const RATE = { ...NUMBER, minimum: 0, description: 'Satoshis for each virtual byte.' };

/** `RecommendedFees` as JSON. */
export const RECOMMENDED_FEES: Schema = named(
  'RecommendedFees',
  object({
    fastestFee: described('For the next block, in satoshis for each virtual byte.', RATE),
    halfHourFee: RATE,
    hourFee: RATE,
    economyFee: described('For no hurry; at most twice the minimum.', RATE),
    minimumFee: described('Transactions that pay less are not relayed.', RATE)
  })
);

/** A block of less than half a million virtual bytes asks for no more than the minimum, one of nearly a million for its median. */
const [HALF_FULL, NEARLY_FULL] = [500_000, 950_000];

/** The smallest step of precise rates, and what is added for haste while not every miner takes rates below 1. */
const [PRECISE, PRIORITY] = [0.001, 0.5];

type LeastRate = Pick<PoolInfo, 'minFeeRate'>;

/** Whole numbers. `blocks`: the next ones. */
export const recommendedFees = (blocks: readonly PayingBlock[], least: LeastRate): RecommendedFees => recommended(blocks, least, 1);

/** In steps of a thousandth. `blocks`: the next ones. */
export function preciseFees(blocks: readonly PayingBlock[], least: LeastRate): RecommendedFees {
  const fees = recommended(blocks, least, PRECISE);
  return {
    fastestFee: threePlaces(Math.max(fees.fastestFee + PRIORITY, 1)),
    halfHourFee: threePlaces(Math.max(fees.halfHourFee + PRIORITY / 2, PRIORITY)),
    hourFee: threePlaces(fees.hourFee),
    economyFee: threePlaces(fees.economyFee),
    minimumFee: threePlaces(fees.minimumFee)
  };
}

const threePlaces = (rate: number): number => Math.round(rate * 1_000) / 1_000;

/** No fee is below that of a longer wait. */
function recommended(blocks: readonly PayingBlock[], { minFeeRate }: LeastRate, step: number): RecommendedFees {
  const minimumFee = Math.max(roundedUp(minFeeRate / VBYTES_PER_RATE, step), step);
  const [first, second, third] = mediansOf(blocks, minimumFee, step);
  const economyFee = Math.max(minimumFee, Math.min(2 * minimumFee, third));
  const hourFee = Math.max(third, economyFee);
  const halfHourFee = Math.max(second, hourFee);
  const fastestFee = Math.max(first, halfHourFee);
  const round = (rate: number): number => rounded(rate, step);
  return {
    fastestFee: round(fastestFee),
    halfHourFee: round(halfHourFee),
    hourFee: round(hourFee),
    economyFee: round(economyFee),
    minimumFee: round(minimumFee)
  };
}

/** What the first three blocks ask for; a block that is not there asks for the minimum. */
function mediansOf(blocks: readonly PayingBlock[], minimum: number, step: number): [number, number, number] {
  const fees: [number, number, number] = [minimum, minimum, minimum];
  for (const i of [0, 1, 2] as const) {
    const block = blocks[i];
    if (block === undefined) break;
    const { median } = block.statistics;
    const vsize = block.weight / WEIGHT_PER_VBYTE;
    const asked = i === 0 ? median : (median + (fees[i - 1] as number)) / 2; // there is one before it
    if (vsize <= HALF_FULL || median < minimum) continue;
    const isLast = blocks[i + 1] === undefined;
    const rate = vsize <= NEARLY_FULL && isLast ? rounded((asked * (vsize - HALF_FULL)) / HALF_FULL, step) : roundedUp(asked, step);
    fees[i] = Math.max(rate, minimum);
  }
  return fees;
}

const roundedUp = (rate: number, step: number): number => Math.ceil(rate / step) * step;

const rounded = (rate: number, step: number): number => Math.round(rate / step) * step;
