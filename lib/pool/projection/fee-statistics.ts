// Fee rates of the transactions of a block, real or projected, in a few figures, as mempool's backend computes them (calcEffectiveFeeStatistics
// and OnlineFeeStatsCalculator in its common.ts).

import { MAX_BLOCK_WEIGHT } from '../../bitcoin/consensus';
import { sorted } from '../../turns/sorted';

export interface RatedTransaction {
  readonly weight: number;
  /** Satoshis per virtual byte of the chunk in which a miner takes it. */
  readonly rate: number;
}

/** In satoshis per virtual byte. */
export interface FeeStatistics {
  /** The average around the middle of a full block; space that is left over counts as paying nothing. */
  readonly median: number;
  /** From the lowest rate to the highest: seven of them, or eleven for a stack of blocks. */
  readonly range: readonly number[];
}

/** Of no transactions. */
export const NO_FEES: FeeStatistics = { median: 0, range: [0, 0, 0, 0, 0, 0, 0] };

const PERCENTILES = [10, 25, 50, 75, 90];

/** The part of a full block, on each side of its middle, over which the median is averaged. */
const MEDIAN_HALF_WIDTH = MAX_BLOCK_WEIGHT / 800;

/** The part of the transactions at the beginning and at the end of a block that may move the ends of the range. */
const ENDS = 50;

/** For a stack of blocks: percentiles of its weight, from the best rate down, and how wide a band is averaged for each, in percent. */
const STACK_BAND = 0.5;
const STACK_PERCENTILES = [STACK_BAND / 2, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100 - STACK_BAND / 2];

/** Transactions between two yields. */
const STEPS = 512;

/** `transactions`: in the order of the block, without a coinbase. Yields often. */
export function* feeStatistics(transactions: readonly RatedTransaction[]): Generator<void, FeeStatistics> {
  const count = transactions.length;
  const byRate = yield* sorted(transactions, (a, b) => a.rate - b.rate);
  const rateAt = (percent: number): number => byRate[Math.floor((count - 1) * (percent / 100))]?.rate ?? 0;
  const last = transactions.slice(Math.ceil((count * (ENDS - 1)) / ENDS));
  const first = transactions.slice(0, Math.floor(count / ENDS));
  const lowest = last.reduce((least, { rate }) => Math.min(least, rate), rateAt(1));
  const highest = first.reduce((most, { rate }) => Math.max(most, rate), rateAt(99));
  return { median: yield* medianOf(byRate), range: [lowest, ...PERCENTILES.map(rateAt), highest] };
}

/** `byRate`: in ascending order. */
function* medianOf(byRate: readonly RatedTransaction[]): Generator<void, number> {
  const [left, right] = [Math.floor(MAX_BLOCK_WEIGHT / 2 - MEDIAN_HALF_WIDTH), Math.ceil(MAX_BLOCK_WEIGHT / 2 + MEDIAN_HALF_WIDTH)];
  let at = MAX_BLOCK_WEIGHT - byRate.reduce((sum, { weight }) => sum + weight, 0);
  let [fees, width] = [0, 0];
  for (const [step, { weight, rate }] of byRate.entries()) {
    if (step % STEPS === STEPS - 1) yield;
    if (at >= right) break;
    const within = Math.min(at + weight, right) - Math.max(at, left);
    if (within > 0) {
      fees += rate * within;
      width += within;
    }
    at += weight;
  }
  return width === 0 ? 0 : fees / width;
}

/** For more than one block. `transactions`: the best rates first. Yields often. */
export function* stackStatistics(transactions: readonly RatedTransaction[]): Generator<void, FeeStatistics> {
  const total = transactions.reduce((sum, { weight }) => sum + weight, 0);
  const bands = STACK_PERCENTILES.map((percent) => ({
    left: (total * (percent - STACK_BAND / 2)) / 100,
    right: (total * (percent + STACK_BAND / 2)) / 100,
    fees: 0,
    width: 0
  }));
  let [at, next] = [0, 0];
  for (const [step, { weight, rate }] of transactions.entries()) {
    if (step % STEPS === STEPS - 1) yield;
    const end = at + weight;
    for (let band = bands[next]; band !== undefined && band.left < end; band = bands[next]) {
      const within = Math.min(end, band.right) - Math.max(at, band.left);
      if (within > 0) {
        band.fees += rate * within;
        band.width += within;
      }
      if (band.right > end) break;
      next++;
    }
    at = end;
  }
  const range = bands.map(({ fees, width }) => (width === 0 ? 0 : fees / width)).reverse();
  return { median: range[Math.floor(range.length / 2)] ?? 0, range };
}
