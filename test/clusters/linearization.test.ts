import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { compareRates, type Rate } from '../../lib/clusters/fee-rate';
import { MOST_IN_BEST_ORDER, linearize, type Chunk } from '../../lib/clusters/linearization';
import { finish } from '../support/expectations/finish';
import type { Cluster } from '../../lib/clusters/cluster';

/** Makes of any numbers parents that come before. */
const parentsOf = (transactions: readonly { readonly picks: readonly number[] }[]): number[][] =>
  transactions.map(({ picks }, index) => (index === 0 ? [] : [...new Set(picks.map((pick) => pick % index))]));

/** A cluster of up to `most` transactions, each of which may depend on any before it. Fees and weights are few, so that many are equal. */
const anyCluster = (most: number): fc.Arbitrary<Cluster> =>
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
      parents: parentsOf(transactions)
    }));

/** The chunks of an order, by their definition: repeatedly the best beginning of the rest, the shortest of several equally good ones. */
function chunksByDefinition(order: readonly number[], { fees, weights }: Cluster): Rate[] {
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
function isAtLeastAsGood(a: readonly Rate[], b: readonly Rate[]): boolean {
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
function* allOrders({ fees, parents }: Cluster, taken: readonly number[] = []): Generator<readonly number[]> {
  if (taken.length === fees.length) yield taken;
  for (let next = 0; next < fees.length; next++)
    if (!taken.includes(next) && (parents[next] ?? []).every((parent) => taken.includes(parent)))
      yield* allOrders({ fees, parents, weights: [] }, [...taken, next]);
}

/** The cluster with its transactions at other places: `order` has the old ones. */
function reordered({ fees, weights, parents }: Cluster, order: readonly number[]): Cluster {
  const places = new Map(order.map((index, place) => [index, place]));
  return {
    fees: order.map((index) => fees[index] as number), // one for each
    weights: order.map((index) => weights[index] as number),
    parents: order.map((index) => (parents[index] ?? []).map((parent) => places.get(parent) as number))
  };
}

/**
 * The steps of a miner until Bitcoin Core 30: each takes the transaction that pays best together with its ancestors that are not taken
 * yet, the first of several equally good ones, and these ancestors: those first that have the fewest ancestors, then the lowest number.
 */
function stepsByAncestors({ fees, weights, parents }: Cluster): number[][] {
  const left = new Set(fees.keys());
  const count = (index: number): number => {
    const found = new Set([index]);
    for (const one of found) for (const parent of parents[one] ?? []) found.add(parent);
    return found.size;
  };
  const steps: number[][] = [];
  while (left.size > 0) {
    let best: (Rate & { readonly taken: ReadonlySet<number> }) | undefined;
    for (const index of left) {
      const taken = new Set([index]);
      for (const one of taken) for (const parent of parents[one] ?? []) if (left.has(parent)) taken.add(parent);
      let [fee, weight] = [0, 0];
      for (const one of taken) [fee, weight] = [fee + (fees[one] ?? 0), weight + (weights[one] ?? 0)];
      if (best === undefined || compareRates({ fee, weight }, best) > 0) best = { fee, weight, taken };
    }
    const step = [...(best?.taken ?? [])].sort((a, b) => count(a) - count(b) || a - b);
    for (const one of step) left.delete(one);
    steps.push(step);
  }
  return steps;
}

const membersOf = (chunks: readonly Chunk[]): number[] => chunks.flatMap(({ members }) => members);

const linearized = (cluster: Cluster): Chunk[] => finish(linearize(cluster));

/** Fails unless everything comes once, parents first, and no chunk pays better than the previous one. */
function expectSound(chunks: readonly Chunk[], { fees, weights, parents }: Cluster): void {
  const order = membersOf(chunks);
  expect([...order].sort((a, b) => a - b)).to.deep.equal([...fees.keys()]);
  const places = new Map(order.map((member, place) => [member, place]));
  for (const [member, place] of places) for (const parent of parents[member] ?? []) expect(places.get(parent)).to.be.lessThan(place);
  for (const { fee, weight, members } of chunks) {
    expect(fee).to.equal(members.reduce((sum, member) => sum + (fees[member] ?? 0), 0));
    expect(weight).to.equal(members.reduce((sum, member) => sum + (weights[member] ?? 0), 0));
  }
  chunks.slice(1).forEach((chunk, i) => expect(compareRates(chunk, chunks[i] as Chunk)).to.be.at.most(0)); // one before each
}

describe('linearize', () => {
  it('puts parents first, takes everything once, and no chunk pays better than the previous one', () => {
    fc.assert(fc.property(anyCluster(24), (cluster) => expectSound(linearized(cluster), cluster)));
  });

  it('gives chunks that are those of its order', () => {
    fc.assert(
      fc.property(anyCluster(16), (cluster) => {
        const chunks = linearized(cluster);
        expect(chunks.map(({ fee, weight }) => ({ fee, weight }))).to.deep.equal(chunksByDefinition(membersOf(chunks), cluster));
      })
    );
  });

  it('is at least as good as every other order', () => {
    fc.assert(
      fc.property(anyCluster(6), (cluster) => {
        const chunks = linearized(cluster);
        for (const order of allOrders(cluster)) expect(isAtLeastAsGood(chunks, chunksByDefinition(order, cluster))).to.equal(true);
      })
    );
  });

  it('puts a parent in one chunk with children that pay for it together, though none would alone', () => {
    const cluster = { fees: [0, 6, 6, 5], weights: [10, 1, 1, 4], parents: [[], [0], [0], []] };
    expect(linearized(cluster)).to.deep.equal([
      { fee: 5, weight: 4, members: [3] },
      { fee: 12, weight: 12, members: [0, 1, 2] }
    ]);
  });

  it('separates chunks that pay the same, the lightest first, then the lowest number', () => {
    const cluster = { fees: [4, 2, 2, 6], weights: [4, 2, 2, 6], parents: [[], [0], [0], [1, 2]] };
    expect(membersOf(linearized(cluster))).to.deep.equal([0, 1, 2, 3]);
    expect(linearized(cluster)).to.have.length(4);
    const alone = { fees: [4, 2, 2], weights: [4, 2, 2], parents: [[], [], []] };
    expect(membersOf(linearized(alone))).to.deep.equal([1, 2, 0]);
    // Of several transactions the highest number decides.
    const pairs = { fees: [0, 0, 4, 4], weights: [1, 1, 1, 1], parents: [[], [], [1], [0]] };
    expect(membersOf(linearized(pairs))).to.deep.equal([1, 2, 0, 3]);
  });

  it('refuses transactions that spend from each other in a circle', () => {
    expect(() => linearized({ fees: [1, 1], weights: [1, 1], parents: [[1], [0]] })).to.throw(RangeError, 'in a circle');
  });

  it('compares amounts whose products exceed a double', () => {
    const fee = 2_099_999_999_999_999;
    const cluster = { fees: [fee - 1, fee], weights: [400_000, 400_000], parents: [[], []] };
    expect(membersOf(linearized(cluster))).to.deep.equal([1, 0]);
    expect(compareRates({ fee, weight: 399_999 }, { fee: fee - 1, weight: 399_999 })).to.be.above(0);
    expect(compareRates({ fee: fee - 1, weight: 399_999 }, { fee, weight: 399_999 })).to.be.below(0);
    expect(compareRates({ fee, weight: 7 }, { fee, weight: 7 })).to.equal(0);
    // The products differ by one.
    for (let times = 5_000_000_000; times > 4_999_999_900; times--) {
      const [a, b] = [
        { fee: 400_000 * times - 1, weight: 400_000 },
        { fee: 399_999 * times - 1, weight: 399_999 }
      ] as const;
      expect([compareRates(a, b) > 0, compareRates(b, a) < 0]).to.deep.equal([true, true]);
    }
  });

  /** A parent that only both children together pay for, and others: what pays best with its ancestors would come first. */
  const withTwins = (count: number): Cluster => ({
    fees: [0, 6, 6, ...Array.from({ length: count - 3 }, () => 5)],
    weights: [10, 1, 1, ...Array.from({ length: count - 3 }, () => 6)],
    parents: [[], [0], [0], ...Array.from({ length: count - 3 }, () => [])]
  });

  it('puts the largest clusters of Bitcoin Core in the best order, and larger ones in that of the rates with ancestors', () => {
    expect(membersOf(linearized(withTwins(MOST_IN_BEST_ORDER))).slice(0, 3)).to.deep.equal([0, 1, 2]);
    expect(membersOf(linearized(withTwins(MOST_IN_BEST_ORDER + 1))).slice(-3)).to.deep.equal([0, 1, 2]);
  });

  it('orders clusters that are too large for the best order by the rates with ancestors, parents first', () => {
    const sizes = { minLength: MOST_IN_BEST_ORDER + 1, maxLength: MOST_IN_BEST_ORDER + 20 };
    const transaction = fc.record({
      fee: fc.nat(20),
      weight: fc.integer({ min: 1, max: 6 }),
      picks: fc.array(fc.nat(), { maxLength: 2 }),
      place: fc.nat()
    });
    fc.assert(
      fc.property(fc.array(transaction, sizes), (transactions) => {
        const inOrder = {
          fees: transactions.map(({ fee }) => fee),
          weights: transactions.map(({ weight }) => weight),
          parents: parentsOf(transactions)
        };
        const places = transactions.map(({ place }) => place);
        const cluster = reordered(
          inOrder,
          [...places.keys()].sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0))
        );
        const chunks = linearized(cluster);
        expectSound(chunks, cluster);
        const order = membersOf(chunks);
        for (const step of stepsByAncestors(cluster)) expect(order.splice(0, step.length)).to.deep.equal(step);
        expect(chunks.map(({ fee, weight }) => ({ fee, weight }))).to.deep.equal(chunksByDefinition(membersOf(chunks), cluster));
      }),
      { numRuns: 30 }
    );
  });

  it('pauses often in a large cluster', () => {
    const count = 2_000;
    const star = {
      fees: Array.from({ length: count }, (_, index) => index % 977),
      weights: Array.from({ length: count }, () => 400),
      parents: Array.from({ length: count }, (_, index) => (index === 0 ? [] : [0]))
    };
    expect([...linearize(star)]).to.have.length.above(count);
    const best = {
      fees: Array.from({ length: MOST_IN_BEST_ORDER }, (_, index) => index),
      weights: Array<number>(MOST_IN_BEST_ORDER).fill(400),
      parents: Array<number[]>(MOST_IN_BEST_ORDER).fill([])
    };
    expect([...linearize(best)]).to.have.length.above(MOST_IN_BEST_ORDER);
  });
});
