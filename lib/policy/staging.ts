// The pool as it would be after a change: some transactions enter, others leave (CTxMemPool::ChangeSet of Bitcoin Core).

import { improves } from '../clusters/diagram';
import { chunksOf, componentsOf, PooledNode, type ClusteredPool, type Member, type PooledCluster } from './clustered-pool';
import { LIMITS } from './limits';
import { PolicyRefusal } from './refusal';
import type { Rate } from '../clusters/fee-rate';

export class Staging {
  /** Transactions that leave, with all that spend from them. */
  readonly removed = new Set<PooledNode>();
  readonly #pool: ClusteredPool;
  readonly #added = new Map<string, PooledNode>();
  /** Of transactions of the pool: those that enter and spend from them. */
  readonly #newChildren = new Map<PooledNode, PooledNode[]>();

  constructor(pool: ClusteredPool) {
    this.#pool = pool;
  }

  /** `spends`: keys of the transactions that it spends from, in the pool, entering before it, or neither. */
  add(member: Member, spends: ReadonlySet<string>): PooledNode {
    const node = new PooledNode(member);
    for (const key of spends) {
      const parent = this.#added.get(key) ?? this.#pool.get(key);
      if (parent === undefined) continue;
      node.parents.add(parent);
      const others = this.#newChildren.get(parent);
      if (others === undefined) this.#newChildren.set(parent, [node]);
      else others.push(node);
    }
    this.#added.set(member.key, node);
    return node;
  }

  /** @throws PolicyRefusal if a cluster would become too large */
  checkClusters(): void {
    for (const node of this.#added.values()) {
      let weight = 0;
      let count = 0;
      for (const { member } of this.#connectedTo(node)) {
        count++;
        weight += member.weight;
        if (count > LIMITS.mostInCluster || weight > LIMITS.mostClusterWeight) throw new PolicyRefusal('policy', 'too-large-cluster');
      }
    }
  }

  /** For what comes back from blocks, whose clusters are trimmed afterwards. @throws PolicyRefusal if a chain is too long for any cluster */
  checkAncestors(): void {
    for (const node of this.#added.values()) {
      const found = new Set([node]);
      for (const { parents } of found) {
        if (found.size > LIMITS.mostInCluster) throw new PolicyRefusal('policy', 'too-large-cluster');
        for (const parent of parents) found.add(parent);
      }
    }
  }

  /** Whether miners would gain by the change. Yields often. */
  *improves(): Generator<void, boolean> {
    const touched = this.#touched();
    const before: Rate[] = [];
    for (const cluster of touched) before.push(...(yield* cluster.chunks()));
    const left = [...Array.from(touched, ({ nodes }) => [...nodes]).flat(), ...this.#added.values()].filter(
      (node) => !this.removed.has(node)
    );
    const after: Rate[] = [];
    for (const component of yield* componentsOf(left, (node) => this.#neighbours(node)))
      after.push(...(yield* chunksOf([...component], ({ parents }) => parents)));
    return improves(after, before);
  }

  /** The clusters that are not the same afterwards. */
  #touched(): Set<PooledCluster> {
    const nodes = [...this.removed, ...[...this.#added.values()].flatMap(({ parents }) => [...parents])];
    return new Set(nodes.filter(({ member }) => this.#pool.get(member.key) !== undefined).map((node) => this.#pool.clusterOf(node)));
  }

  /** Goes no further than it is asked to: inputs may connect hundreds of clusters. */
  *#connectedTo(start: PooledNode): Generator<PooledNode, void> {
    const found = new Set([start]);
    for (const node of found) {
      yield node;
      for (const other of this.#neighbours(node)) found.add(other);
    }
  }

  *#neighbours(node: PooledNode): Generator<PooledNode, void> {
    for (const relatives of [node.parents, node.children, this.#newChildren.get(node) ?? []])
      for (const relative of relatives) if (!this.removed.has(relative)) yield relative;
  }
}
