// The pool in a few figures, as Esplora's servers count them: transactions by fee rate downwards, in bins of about 50,000 virtual bytes.

import { sorted } from './sorted';
import type { PooledTransaction } from './pooled-transaction';

const BIN_VSIZE = 50_000;

export interface FeeBin {
  /** The lowest in it, satoshis for each virtual byte. */
  readonly rate: number;
  /** Virtual bytes, rounded up for each transaction. */
  readonly vsize: number;
}

export interface PoolSummary {
  readonly count: number;
  readonly vsize: number;
  /** Satoshis. */
  readonly totalFee: number;
  /** The highest rates first. */
  readonly histogram: readonly FeeBin[];
}

/** Yields often. */
export function* summaryOf(transactions: readonly PooledTransaction[]): Generator<void, PoolSummary> {
  const byRate = yield* sorted(transactions, (a, b) => b.feeRate - a.feeRate);
  const histogram: FeeBin[] = [];
  let [vsize, totalFee, binned, rate] = [0, 0, 0, 0];
  for (const transaction of byRate) {
    if (binned > BIN_VSIZE && transaction.feeRate !== rate) {
      histogram.push({ rate, vsize: binned });
      binned = 0;
    }
    rate = transaction.feeRate;
    binned += transaction.vsize;
    vsize += transaction.vsize;
    totalFee += transaction.fee;
    yield;
  }
  if (binned > 0) histogram.push({ rate, vsize: binned });
  return { count: transactions.length, vsize, totalFee, histogram };
}
