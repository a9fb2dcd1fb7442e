// Clusters of transactions for tests of their order, and the figures by which orders are compared.

import fc from 'fast-check';
import { compareRates, type Rate } from '../../lib/pool/order/fee-rate';
import type { Cluster } from '../../lib/pool/order/cluster';
import type { Chunk } from '../../lib/pool/order/linearization';

/** A cluster of up to `most` transactions, each of which may depend on any before it. Fees and weights are few, so that many are equal. */
export const anyCluster = (most: number): fc.Arbitrary<Cluster> =>
  fc
    .array(
      fc.record({
        fee: fc.integer({ min: -3, max: 12 }),
        weight: fc.integer({ min: 1, max: 6 }),
        picks: fc.array(fc.nat(), { maxLength: 3 })
      }),
      { minLength: 1, maxLength: most }
    )
    .map((transactions) => ({
      fees: transactions.map(({ fee }) => fee),
      weights: transactions.map(({ weight }) => weight),
      parents: transactions.map(({ picks }, index) => (index === 0 ? [] : [...new Set(picks.map((pick) => pick % index))]))
    }));

/** The chunks of an order, by their definition: repeatedly the best beginning of the rest, the shortest of several equally good ones. */
export function chunksByDefinition(order: readonly number[], { fees, weights }: Cluster): Rate[] {
  const chunks: Rate[] = [];
  for (let start = 0; start < order.length;) {
    let best: (Rate & { readonly end: number }) | undefined;
    let [fee, weight] = [0, 0];
    for (let end = start; end < order.length; end++) {
      const member = order[end] as number; // below the length
      fee += fees[member] ?? 0;
      weight += weights[member] ?? 0;
      if (best === undefined || compareRates({ fee, weight }, best) > 0) best = { fee, weight, end: end + 1 };
    }
    if (best === undefined) break;
    chunks.push({ fee: best.fee, weight: best.weight });
    start = best.end;
  }
  return chunks;
}

/** Whether a miner who takes chunk by chunk has gathered at least as much from `a` as from `b`, at any weight. */
export function isAtLeastAsGood(a: readonly Rate[], b: readonly Rate[]): boolean {
  return [...corners(a), ...corners(b)].every(({ weight }) => gathered(a, weight) >= gathered(b, weight) - 1e-9);
}

function corners(chunks: readonly Rate[]): Rate[] {
  let [fee, weight] = [0, 0];
  return chunks.map((chunk) => ({ fee: (fee += chunk.fee), weight: (weight += chunk.weight) }));
}

function gathered(chunks: readonly Rate[], upTo: number): number {
  let [fee, left] = [0, upTo];
  for (const chunk of chunks) {
    const part = Math.min(1, left / chunk.weight);
    fee += chunk.fee * part;
    left -= chunk.weight * part;
    if (left <= 0) break;
  }
  return fee;
}

/** All orders with parents first. */
export function* allOrders({ fees, parents }: Cluster, taken: readonly number[] = []): Generator<readonly number[]> {
  if (taken.length === fees.length) yield taken;
  for (let next = 0; next < fees.length; next++)
    if (!taken.includes(next) && (parents[next] ?? []).every((parent) => taken.includes(parent)))
      yield* allOrders({ fees, parents, weights: [] }, [...taken, next]);
}

export const membersOf = (chunks: readonly Chunk[]): number[] => chunks.flatMap(({ members }) => members);
