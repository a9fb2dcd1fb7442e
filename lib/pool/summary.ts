// The pool in a few figures, computed as by Esplora servers: transactions in descending order of fee rate, in bins of about 50,000 virtual
// bytes.

import { sorted } from '../turns/sorted';
import type { PooledTransaction } from './by-script/pooled-transaction';

export const BIN_VSIZE = 50_000;

/** Transactions between two yields. */
const STEPS = 256;

export interface FeeBin {
  /** The lowest fee rate in the bin, in satoshis per virtual byte. */
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
  const rates = new Float64Array(transactions.length);
  const places: number[] = [];
  for (const [i, { feeRate }] of transactions.entries()) {
    rates[i] = feeRate;
    places.push(i);
    if (i % STEPS === 0) yield;
  }
  const rateAt = (i: number): number => rates[i] as number; // below the length
  const order = yield* sorted(places, (a, b) => rateAt(b) - rateAt(a));
  const histogram: FeeBin[] = [];
  let [vsize, totalFee, binned, rate] = [0, 0, 0, 0];
  for (const [step, i] of order.entries()) {
    if (step % STEPS === 0) yield;
    const transaction = transactions[i] as PooledTransaction;
    if (binned > BIN_VSIZE && rateAt(i) !== rate) {
      histogram.push({ rate, vsize: binned });
      binned = 0;
    }
    rate = rateAt(i);
    binned += transaction.vsize;
    vsize += transaction.vsize;
    totalFee += transaction.fee;
  }
  if (binned > 0) histogram.push({ rate, vsize: binned });
  return { count: transactions.length, vsize, totalFee, histogram };
}
