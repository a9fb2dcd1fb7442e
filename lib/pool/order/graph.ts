// The graph of the transaction pool: which transaction spends from which, and the totals of each
// transaction's ancestors and descendants, itself included. It follows the pool: when a transaction
// enters, leaves or changes its fee, only the totals of its relatives are computed again.

import { keyOf } from '../../bitcoin/hash';
import type { PoolEntry } from '../../node/types/pool';

/** Sums over a set of transactions; modified fees, in satoshis. */
export interface PoolTotals {
  readonly count: number;
  readonly size: number;
  readonly fees: number;
}

const NOTHING: PoolTotals = { count: 0, size: 0, fees: 0 };

/** A transaction and its relatives in the pool. */
export class PoolNode {
  readonly parents = new Set<PoolNode>();
  readonly children = new Set<PoolNode>();
  ancestors = NOTHING;
  descendants = NOTHING;
  /** As of the last update. */
  modifiedFee: number;
  /** Number of the last update that saw it. */
  seen = 0;
  /** Number of the last walk that visited it. */
  walk = 0;

  constructor(readonly entry: PoolEntry) {
    this.modifiedFee = entry.modifiedFee;
  }
}

/** The changes of an update. */
export interface GraphChange {
  /** Transactions whose totals, parents or children may have changed. */
  readonly touched: readonly PoolNode[];
  readonly removed: readonly PoolNode[];
}

/** Strings of one character per byte make quick keys. */
export class PoolGraph {
  readonly #nodes = new Map<PoolEntry, PoolNode>();
  readonly #byTxid = new Map<string, PoolNode>();
  /** Transactions by the txids that they spend from. */
  readonly #spenders = new Map<string, Set<PoolNode>>();
  #updates = 0;
  #walks = 0;

  /**
   * Brings the graph to the present entries of the pool. An entry is recognized by its object.
   * Yields often; must be run to its end before the next update.
   */
  *update(entries: readonly PoolEntry[]): Generator<void, GraphChange> {
    const { added, changed } = yield* this.#look(entries);
    const removed = [...this.#nodes.values()].filter(({ seen }) => seen !== this.#updates);
    const before = yield* this.#relatives([...removed, ...changed]);
    for (const node of removed) {
      this.#remove(node);
      yield;
    }
    for (const node of added) {
      this.#add(node);
      yield;
    }
    const touched = new Set([...before, ...(yield* this.#relatives(added))].filter(({ seen }) => seen === this.#updates));
    for (const node of touched) {
      node.ancestors = this.#sum(node, 'parents');
      node.descendants = this.#sum(node, 'children');
      yield;
    }
    return { touched: [...touched], removed };
  }

  /** The ancestors or the descendants of a transaction, without itself. @throws RangeError for an entry that the last update did not see */
  relativesOf(entry: PoolEntry, direction: 'parents' | 'children'): PoolEntry[] {
    const start = this.#nodes.get(entry);
    if (start === undefined) throw new RangeError('expected a transaction of the pool');
    const found: PoolEntry[] = [];
    this.#walks++;
    this.#walkFrom(start, direction, (node) => {
      if (node !== start) found.push(node.entry);
    });
    return found;
  }

  *#look(entries: readonly PoolEntry[]): Generator<void, { readonly added: PoolNode[]; readonly changed: PoolNode[] }> {
    const added: PoolNode[] = [];
    const changed: PoolNode[] = [];
    this.#updates++;
    for (const entry of entries) {
      const known = this.#nodes.get(entry);
      const node = known ?? new PoolNode(entry);
      node.seen = this.#updates;
      if (known === undefined) {
        added.push(node);
      } else if (known.modifiedFee !== entry.modifiedFee) {
        known.modifiedFee = entry.modifiedFee;
        changed.push(known);
      }
      yield;
    }
    return { added, changed };
  }

  /** As of the last update. */
  find(txid: Buffer): PoolNode | undefined {
    return this.#byTxid.get(keyOf(txid));
  }

  #add(node: PoolNode): void {
    const { entry } = node;
    const key = keyOf(entry.txid);
    this.#nodes.set(entry, node);
    this.#byTxid.set(key, node);
    for (const child of this.#spenders.get(key) ?? []) link(node, child);
    for (const txid of entry.spends) {
      const spent = keyOf(txid);
      const spenders = this.#spenders.get(spent);
      if (spenders === undefined) this.#spenders.set(spent, new Set([node]));
      else spenders.add(node);
      const parent = this.#byTxid.get(spent);
      if (parent !== undefined) link(parent, node);
    }
  }

  #remove(node: PoolNode): void {
    const { entry, parents, children } = node;
    this.#nodes.delete(entry);
    this.#byTxid.delete(keyOf(entry.txid));
    for (const parent of parents) parent.children.delete(node);
    for (const child of children) child.parents.delete(node);
    for (const txid of entry.spends) {
      const spent = keyOf(txid);
      const spenders = this.#spenders.get(spent);
      if (spenders?.delete(node) === true && spenders.size === 0) this.#spenders.delete(spent);
    }
  }

  /** The nodes, their ancestors and their descendants. */
  *#relatives(nodes: readonly PoolNode[]): Generator<void, Set<PoolNode>> {
    const found = new Set<PoolNode>();
    for (const direction of ['parents', 'children'] as const) {
      // One walk for all of them, so that no node is visited twice.
      this.#walks++;
      for (const start of nodes) {
        this.#walkFrom(start, direction, (node) => found.add(node));
        yield;
      }
    }
    return found;
  }

  #sum(start: PoolNode, direction: 'parents' | 'children'): PoolTotals {
    const sum = { count: 0, size: 0, fees: 0 };
    this.#walks++;
    this.#walkFrom(start, direction, ({ entry, modifiedFee }) => {
      sum.count++;
      sum.size += entry.size;
      sum.fees += modifiedFee;
    });
    return sum;
  }

  /** Visits each node that the current walk has not visited yet. */
  #walkFrom(start: PoolNode, direction: 'parents' | 'children', visit: (node: PoolNode) => void): void {
    if (start.walk === this.#walks) return;
    start.walk = this.#walks;
    const pending = [start];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      visit(node);
      for (const next of node[direction]) {
        if (next.walk === this.#walks) continue;
        next.walk = this.#walks;
        pending.push(next);
      }
    }
  }
}

function link(parent: PoolNode, child: PoolNode): void {
  parent.children.add(child);
  child.parents.add(parent);
}
