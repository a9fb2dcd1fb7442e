// The transactions of the pool and which of them spend from which, always up to date. A cluster is a set of transactions that are connected
// by this; its chunks are found when they are asked for, and kept until it changes.

import { linearize } from '../clusters/linearization';
import { runAtOnce } from '../turns/slices';
import type { Rate } from '../clusters/fee-rate';

/** What the rules need of a transaction in the pool, or on its way into it. */
export interface Member {
  /** The txid as a key of maps. */
  readonly key: string;
  readonly txid: Buffer;
  readonly wtxid: Buffer;
  readonly version: number;
  /** Virtual bytes and weight, adjusted for signature operations. */
  readonly size: number;
  readonly weight: number;
  /** With the amounts that the operator has added, which may change. */
  readonly modifiedFee: number;
  /** The indexes of its outputs that are dust. */
  readonly dust: readonly number[];
}

/** Transactions that a miner takes together. */
export interface PooledChunk extends Rate {
  readonly nodes: readonly PooledNode[];
}

/** A transaction with those that it is connected to directly. */
export class PooledNode {
  readonly parents = new Set<PooledNode>();
  readonly children = new Set<PooledNode>();
  cluster = new PooledCluster([this]);

  constructor(readonly member: Member) {}
}

export class PooledCluster {
  readonly nodes: Set<PooledNode>;
  /** Whether a transaction has left: the others may not be connected any longer. */
  mayBeSplit = false;
  #chunks: readonly PooledChunk[] = [];
  /** The modified fees of which the chunks were made, in the order of the nodes, to which more may have been added. */
  #fees: readonly number[] = [];

  constructor(nodes: Iterable<PooledNode>) {
    this.nodes = new Set(nodes);
  }

  add(node: PooledNode): void {
    this.nodes.add(node);
    node.cluster = this;
  }

  /** The others stay together until their connections are looked at again. */
  delete(node: PooledNode): void {
    this.nodes.delete(node);
    this.mayBeSplit = true;
  }

  /** The best first. Yields often. */
  *chunks(): Generator<void, readonly PooledChunk[]> {
    const fees = Array.from(this.nodes, ({ member }) => member.modifiedFee);
    if (fees.some((fee, i) => fee !== this.#fees[i])) {
      this.#chunks = yield* chunksOf([...this.nodes], ({ parents }) => parents);
      this.#fees = fees;
    }
    return this.#chunks;
  }
}

export class ClusteredPool {
  readonly #nodes = new Map<string, PooledNode>();

  nodes(): IterableIterator<PooledNode> {
    return this.#nodes.values();
  }

  /** By txid as a key. */
  get(key: string): PooledNode | undefined {
    return this.#nodes.get(key);
  }

  /** `parents`: keys of the transactions that it spends from, in the pool or not. `children`: of those of the pool that spend from it. */
  add(member: Member, parents: Iterable<string>, children: Iterable<string>): void {
    const node = new PooledNode(member);
    this.#nodes.set(member.key, node);
    for (const parent of this.#known(parents)) this.#connect(parent, node);
    // Only a transaction that comes back from a block has children already.
    for (const child of this.#known(children)) this.#connect(node, child);
  }

  /** `key`: of its txid. Those that spend from it stay. */
  delete(key: string): void {
    const node = this.#nodes.get(key);
    if (node === undefined) return;
    this.#nodes.delete(key);
    for (const parent of node.parents) parent.children.delete(node);
    for (const child of node.children) child.parents.delete(node);
    node.cluster.delete(node);
  }

  clear(): void {
    this.#nodes.clear();
  }

  /** The cluster of a transaction of the pool. */
  clusterOf(node: PooledNode): PooledCluster {
    const { cluster } = node;
    if (!cluster.mayBeSplit) return cluster;
    for (const part of runAtOnce(componentsOf(cluster.nodes, neighbours))) {
      const found = new PooledCluster(part);
      for (const member of part) member.cluster = found;
    }
    return node.cluster;
  }

  #known(keys: Iterable<string>): Set<PooledNode> {
    return new Set(Array.from(keys).flatMap((key) => this.#nodes.get(key) ?? []));
  }

  #connect(parent: PooledNode, child: PooledNode): void {
    parent.children.add(child);
    child.parents.add(parent);
    const [a, b] = [this.clusterOf(parent), this.clusterOf(child)];
    if (a === b) return;
    const [large, small] = a.nodes.size < b.nodes.size ? [b, a] : [a, b];
    for (const node of small.nodes) large.add(node);
  }
}

function* neighbours({ parents, children }: PooledNode): Generator<PooledNode, void> {
  yield* parents;
  yield* children;
}

/** All that can be reached from a transaction, itself included. */
function reachedFrom(starts: Iterable<PooledNode>, next: (node: PooledNode) => Iterable<PooledNode>): Set<PooledNode> {
  const found = new Set(starts);
  for (const node of found) for (const other of next(node)) found.add(other);
  return found;
}

/** The connected parts of some transactions. Yields after each. */
export function* componentsOf(
  nodes: Iterable<PooledNode>,
  next: (node: PooledNode) => Iterable<PooledNode>
): Generator<void, Set<PooledNode>[]> {
  const seen = new Set<PooledNode>();
  const components: Set<PooledNode>[] = [];
  for (const node of nodes) {
    if (seen.has(node)) continue;
    const component = reachedFrom([node], next);
    for (const member of component) seen.add(member);
    components.push(component);
    yield;
  }
  return components;
}

/** The transactions and all that spend from them. */
export const withDescendants = (nodes: Iterable<PooledNode>): Set<PooledNode> => reachedFrom(nodes, ({ children }) => children);

/** The transactions and all that they spend from. */
export const withAncestors = (nodes: Iterable<PooledNode>): Set<PooledNode> => reachedFrom(nodes, ({ parents }) => parents);

/** The chunks of connected transactions, the best first. `parentsOf`: others than `nodes` do not matter. Yields often. */
export function* chunksOf(
  nodes: readonly PooledNode[],
  parentsOf: (node: PooledNode) => Iterable<PooledNode>
): Generator<void, PooledChunk[]> {
  const places = new Map(nodes.map((node, place) => [node, place]));
  const chunks = yield* linearize({
    fees: nodes.map(({ member }) => member.modifiedFee),
    weights: nodes.map(({ member }) => member.weight),
    parents: nodes.map((node) => Array.from(parentsOf(node)).flatMap((parent) => places.get(parent) ?? []))
  });
  return chunks.map(({ fee, weight, members }) => ({ fee, weight, nodes: members.map((place) => nodes[place] as PooledNode) }));
}
