// The whole pool in the order in which a miner would take it: the chunks of all clusters, the best first (as in Bitcoin Core since 31).
// A cluster is a set of transactions connected by spending from each other. Only clusters that have changed are ordered again.

import { merged, sorted } from '../../turns/sorted';
import { compareRates, type Rate } from '../../clusters/fee-rate';
import { linearize, MOST_IN_BEST_ORDER } from '../../clusters/linearization';
import type { GraphChange, PoolNode } from './graph';

interface PoolCluster {
  readonly nodes: readonly PoolNode[];
  isCurrent: boolean;
}

/** Transactions that a miner would take together. */
export interface PoolChunk extends Rate {
  readonly cluster: PoolCluster;
  readonly nodes: readonly PoolNode[];
  /** Weight of the cluster's chunks that pay the same, up to and including this one. */
  readonly weightAtRate: number;
  /** The greatest of the txids. */
  readonly greatest: Buffer;
}

/** The best first; of chunks that pay the same, the one that comes earlier in its cluster, then the one with the smaller `greatest`. */
function compareChunks(a: PoolChunk, b: PoolChunk): number {
  return compareRates(b, a) || a.weightAtRate - b.weightAtRate || a.greatest.compare(b.greatest);
}

export class PoolOrder {
  readonly #chunkOf = new Map<PoolNode, PoolChunk>();
  #chunks: PoolChunk[] = [];

  /** Whether no other order of the pool would be better. */
  get isBest(): boolean {
    return this.#chunks.every(({ cluster: { nodes } }) => nodes.length <= MOST_IN_BEST_ORDER);
  }

  /** The chunks, the best first. */
  get chunks(): readonly PoolChunk[] {
    return this.#chunks;
  }

  /** @throws RangeError for a transaction that the pool did not have at the last update. */
  chunkOf(node: PoolNode): PoolChunk {
    const chunk = this.#chunkOf.get(node);
    if (chunk === undefined) throw new RangeError('expected a transaction of the pool');
    return chunk;
  }

  /**
   * Orders the clusters that have changed, and returns the transactions whose chunks have changed. Yields often; must be run to its end
   * before the next update.
   */
  *update({ touched, removed }: GraphChange): Generator<void, readonly PoolNode[]> {
    if (touched.length === 0 && removed.length === 0) return [];
    for (const node of [...touched, ...removed]) {
      const chunk = this.#chunkOf.get(node);
      if (chunk !== undefined) chunk.cluster.isCurrent = false;
    }
    for (const node of removed) this.#chunkOf.delete(node);
    const seen = new Set<PoolNode>();
    const made: PoolChunk[] = [];
    const changed: PoolNode[] = [];
    for (const node of touched) {
      if (seen.has(node)) continue;
      for (const chunk of yield* orderCluster(yield* clusterOf(node, seen))) {
        made.push(chunk);
        for (const member of chunk.nodes) if (this.#move(member, chunk)) changed.push(member);
        yield;
      }
    }
    const kept: PoolChunk[] = [];
    for (const chunk of this.#chunks) {
      if (chunk.cluster.isCurrent) kept.push(chunk);
      yield;
    }
    this.#chunks = yield* merged(kept, yield* sorted(made, compareChunks), compareChunks);
    return changed;
  }

  /** Sets the chunk of a node. Returns whether fee or weight of the chunk have changed. */
  #move(node: PoolNode, chunk: PoolChunk): boolean {
    const before = this.#chunkOf.get(node);
    this.#chunkOf.set(node, chunk);
    return before?.fee !== chunk.fee || before.weight !== chunk.weight;
  }
}

/** The cluster of a node; `seen` gets its nodes. */
function* clusterOf(start: PoolNode, seen: Set<PoolNode>): Generator<void, PoolCluster> {
  const nodes = [start];
  seen.add(start);
  for (const node of nodes) {
    for (const relatives of [node.parents, node.children])
      for (const next of relatives) {
        if (seen.has(next)) continue;
        seen.add(next);
        nodes.push(next);
      }
    yield;
  }
  return { nodes, isCurrent: true };
}

function* orderCluster(cluster: PoolCluster): Generator<void, PoolChunk[]> {
  // Sorted by txid, so that of two equally good orders always the same one results.
  const named = cluster.nodes.map((node) => ({ node, txid: node.entry.txid }));
  const nodes = yield* sorted(named, (a, b) => a.txid.compare(b.txid));
  const places = new Map(nodes.map(({ node }, place) => [node, place]));
  const ordered = yield* linearize({
    fees: nodes.map(({ node }) => node.modifiedFee),
    weights: nodes.map(({ node }) => node.entry.adjustedWeight),
    parents: nodes.map(({ node }) => Array.from(node.parents, (parent) => places.get(parent) as number)) // of the same cluster
  });
  const chunks: PoolChunk[] = [];
  for (const { fee, weight, members } of ordered) {
    const before = chunks.at(-1);
    chunks.push({
      fee,
      weight,
      cluster,
      nodes: members.map((member) => (nodes[member] as (typeof nodes)[number]).node), // a place in nodes
      weightAtRate: weight + (before !== undefined && compareRates(before, { fee, weight }) === 0 ? before.weightAtRate : 0),
      greatest: (nodes[members.reduce((a, b) => Math.max(a, b))] as (typeof nodes)[number]).txid // sorted by txid
    });
  }
  return chunks;
}
