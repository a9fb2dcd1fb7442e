// The order in which a miner would take the transactions of a cluster: parents first, and those that pay best per weight as early as that
// allows. The order divides into chunks, each of which pays no better than the previous one. Bitcoin Core has ordered its pool so since 31.
//
// Up to MOST_IN_BEST_ORDER transactions the order is optimal: no other order has more fees at any weight. A set of transactions with all
// their parents that pays better than the rest comes before the rest; a set that cannot be split that way is a chunk. Larger clusters,
// which Bitcoin Core does not have, are ordered by the rate of each transaction together with its ancestors.

import { orderByAncestors } from './ancestor-order';
import { findClosure, type WeightedGraph } from './closure';
import { compareRates, type Rate } from './fee-rate';
import type { Cluster } from './cluster';

/** The size of the largest clusters that are put in the best order. */
export const MOST_IN_BEST_ORDER = 64;

/** Transactions that a miner takes together. */
export interface Chunk extends Rate {
  /** In their order. */
  readonly members: readonly number[];
}

/** The chunks of a cluster in their order. Yields often. */
export function* linearize(cluster: Cluster): Generator<void, Chunk[]> {
  const count = cluster.fees.length;
  if (count === 1) return [chunkOf([0], cluster)];
  if (count > MOST_IN_BEST_ORDER) return chunksOf(yield* orderByAncestors(cluster), cluster);
  return inOrder(yield* split(cluster), cluster);
}

function chunkOf(members: readonly number[], { fees, weights }: Cluster): Chunk {
  let [fee, weight] = [0, 0];
  for (const member of members) {
    fee += fees[member] as number; // one for each
    weight += weights[member] as number;
  }
  return { fee, weight, members };
}

/** Splits the cluster until in each part no closed set pays better than the rest. Returns the parts in any order. */
function* split(cluster: Cluster): Generator<void, Chunk[]> {
  const chunks: Chunk[] = [];
  const pending = [chunkOf([...cluster.fees.keys()], cluster)];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { members } = next;
    const { heaviest, balanced } = findClosure(gainOver(next, cluster));
    const of = (indexes: readonly number[]): Chunk =>
      chunkOf(
        indexes.map((index) => members[index] as number),
        cluster
      ); // indexes of members
    if (heaviest === undefined) chunks.push(...balanced.map(of));
    else pending.push(of([...heaviest]), of([...members.keys()].filter((index) => !heaviest.has(index))));
    yield;
  }
  return chunks;
}

/** How much more each member pays than the average of the part, times the weight of the part. */
function gainOver({ members, fee, weight }: Chunk, { fees, weights, parents }: Cluster): WeightedGraph {
  const places = new Map(members.map((member, place) => [member, place]));
  return {
    weights: members.map((member) => BigInt(fees[member] as number) * BigInt(weight) - BigInt(fee) * BigInt(weights[member] as number)),
    parents: members.map((member) => (parents[member] as readonly number[]).flatMap((parent) => places.get(parent) ?? []))
  };
}

/** Sorts chunks, and the members of each: parents first, then the best rate, then the least weight, then the lowest (highest) index. */
function inOrder(chunks: readonly Chunk[], cluster: Cluster): Chunk[] {
  const chunkOfMember = new Map(chunks.flatMap((chunk) => chunk.members.map((member) => [member, chunk])));
  const parentsOf = (member: number): readonly number[] => cluster.parents[member] as readonly number[]; // one for each
  const highest = new Map(chunks.map((chunk) => [chunk, Math.max(...chunk.members)]));
  const parentChunks = (chunk: Chunk): Chunk[] =>
    chunk.members
      .flatMap((member) => parentsOf(member).flatMap((parent) => chunkOfMember.get(parent) ?? []))
      .filter((other) => other !== chunk);
  const best = (a: Rate, b: Rate): number => compareRates(b, a) || a.weight - b.weight;
  const single = (member: number): Rate => chunkOf([member], cluster);
  return parentsFirst(chunks, parentChunks, (a, b) => best(a, b) || (highest.get(a) as number) - (highest.get(b) as number)).map(
    (chunk) => ({
      ...chunk,
      members: parentsFirst(chunk.members, parentsOf, (a, b) => best(single(a), single(b)) || a - b)
    })
  );
}

/** A topological order: repeatedly takes the first, by `compare`, whose parents are all taken. Meant for some dozens. */
function parentsFirst<T>(all: readonly T[], parentsOf: (one: T) => readonly T[], compare: (a: T, b: T) => number): T[] {
  const waiting = [...all].sort(compare);
  const left = new Set(waiting);
  const taken: T[] = [];
  while (waiting.length > 0) {
    const at = waiting.findIndex((one) => !parentsOf(one).some((parent) => left.has(parent)));
    const [next] = waiting.splice(at, 1);
    if (at < 0 || next === undefined) throw new RangeError('expected transactions that do not depend on each other in a circle');
    left.delete(next);
    taken.push(next);
  }
  return taken;
}

/** Divides an order into its chunks. */
function chunksOf(order: readonly number[], cluster: Cluster): Chunk[] {
  const chunks: Chunk[] = [];
  for (const member of order) {
    const parts = [chunkOf([member], cluster)];
    let sum: Rate = parts[0] as Chunk; // there is one
    for (let before = chunks.at(-1); before !== undefined && compareRates(sum, before) > 0; before = chunks.at(-1)) {
      chunks.pop();
      parts.push(before);
      sum = { fee: sum.fee + before.fee, weight: sum.weight + before.weight };
    }
    chunks.push(parts.length === 1 ? (parts[0] as Chunk) : { ...sum, members: parts.reverse().flatMap(({ members }) => members) });
  }
  return chunks;
}
