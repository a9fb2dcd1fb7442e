// Number of transactions in a block, and the distribution of their inputs and outputs.

import type { ChainParameters } from './parameters';
import type { Random } from './random';

export interface BlockShape {
  /** Maximum: a block is also full at the weight limit. */
  readonly transactions: number;
  readonly inputs: number;
  /** Coins; an OP_RETURN output may be added. */
  readonly outputs: number;
  /** Whether transactions may spend outputs of the same block. */
  readonly spendsItself: boolean;
}

export interface TransactionShape {
  inputs: number;
  outputs: number;
}

const TRANSACTIONS = 2_500;
/** Largest number of inputs or outputs that a transaction gets at once: a sweep, a payout. */
const LARGEST_RUN = 24;

/** A usual block: average number of inputs of a transaction, and how many more outputs it has on average. */
export function usualShape(random: Random, { inputs: inputsEach, growth }: Pick<ChainParameters, 'inputs' | 'growth'>): BlockShape {
  const transactions = Math.round(TRANSACTIONS * (0.9 + 0.2 * random.unit()));
  const inputs = Math.round(transactions * inputsEach);
  return { transactions, inputs, outputs: inputs + Math.round(transactions * growth), spendsItself: true };
}

/** The block that live following is measured with: 8,000 coins made, 7,000 coins of the index spent. */
export const LIVE_SHAPE: BlockShape = { transactions: 2_000, inputs: 7_000, outputs: 8_000, spendsItself: false };

/** One input and one output for each transaction; the rest goes in runs to some of them. */
export function spread(shape: BlockShape, random: Random): TransactionShape[] {
  const transactions = Array.from({ length: shape.transactions }, () => ({ inputs: 1, outputs: 1 }));
  for (const side of ['inputs', 'outputs'] as const) {
    let left = shape[side] - shape.transactions;
    while (left > 0) {
      const run = Math.min(left, Math.ceil(LARGEST_RUN ** (random.unit() ** 2)));
      const transaction = transactions[random.below(transactions.length)] as TransactionShape; // below the length
      transaction[side] += run;
      left -= run;
    }
  }
  return transactions;
}
