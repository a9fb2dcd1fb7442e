// The entries of bcoin's pool with their clusters: entering, leaving, and keeping within bounds. The pool's lock must be held for all that
// changes something.

import { setImmediate } from 'node:timers/promises';
import { compareRates } from '../../clusters/fee-rate';
import { keyOf } from '../../bitcoin/hash';
import { VBYTES_PER_RATE, WEIGHT_PER_VBYTE } from '../../bitcoin/transaction';
import {
  ClusteredPool,
  withDescendants,
  type Member,
  type PooledChunk,
  type PooledCluster,
  type PooledNode
} from '../../policy/clustered-pool';
import { dustLimit } from '../../policy/dust';
import { LIMITS } from '../../policy/limits';
import { RollingFloor } from '../../policy/rolling-floor';
import { adjustedWeight } from '../../policy/sigops';
import { runAhead, Slice } from '../../turns/slices';
import { sorted } from '../../turns/sorted';
import { fromHost } from '../host';
import { findEntryClass } from './entry-class';
import type { HostChain, HostMempool, HostPoolEntry, HostPoolEntryClass, HostTransaction, ToHostHash } from '../host';
import type { ChangeSet } from './change-set';

/** A full pool drops this part of itself at least, so that not every transaction has to look for what to drop. */
const ROOM = 1 / 64;

/** An entry as the rules see it. */
class PooledMember implements Member {
  readonly key: string;
  readonly txid: Buffer;
  readonly wtxid: Buffer;
  readonly version: number;
  readonly size: number;
  readonly weight: number;
  readonly dust: readonly number[];
  readonly #entry: HostPoolEntry;

  constructor(entry: HostPoolEntry) {
    const { tx, size, sigops } = entry;
    this.#entry = entry;
    this.txid = tx.hash();
    this.key = keyOf(this.txid);
    this.wtxid = tx.witnessHash();
    this.version = tx.version;
    this.size = size;
    this.weight = adjustedWeight(tx.getWeight(), sigops);
    this.dust = [...tx.outputs.keys()].filter((index) => isDust(tx.outputs[index] as HostTransaction['outputs'][number])); // below the length
  }

  get modifiedFee(): number {
    return this.#entry.deltaFee;
  }
}

const isDust = ({ value, script }: HostTransaction['outputs'][number]): boolean => value < dustLimit(script.toRaw());

export interface PooledEntriesParts {
  readonly mempool: HostMempool;
  readonly chain: HostChain;
  readonly toHost: ToHostHash;
  readonly incrementalRate: number;
  /** Unix seconds. */
  readonly now: () => number;
}

export class PooledEntries {
  readonly clusters = new ClusteredPool();
  readonly #parts: PooledEntriesParts;
  readonly #rollingFloor: RollingFloor;
  #entryClass: HostPoolEntryClass | undefined;
  #replacement: HostTransaction | undefined;
  /** While transactions enter together: those whose orphans come afterwards. */
  #parents: HostTransaction[] | undefined;

  constructor(parts: PooledEntriesParts) {
    this.#parts = parts;
    this.#rollingFloor = new RollingFloor(parts.incrementalRate);
    this.#follow();
  }

  /** While transactions leave because of a replacement: the replacement. */
  get replacement(): HostTransaction | undefined {
    return this.#replacement;
  }

  /** What is asked for because the pool was full: satoshis per 1,000 virtual bytes. */
  get floor(): number {
    const { mempool, now } = this.#parts;
    return this.#rollingFloor.rate(mempool.getSize() / mempool.options.maxSize, now());
  }

  /** The fee that it pays, without what the operator has added. */
  feeOf({ txid }: Pick<Member, 'txid'>): number {
    const { mempool, toHost } = this.#parts;
    return mempool.getEntry(toHost(txid))?.fee ?? 0;
  }

  has({ key }: Pick<Member, 'key'>): boolean {
    return this.clusters.get(key) !== undefined;
  }

  /** Drops what is replaced, adds what was checked, then takes in the orphans that waited for it. */
  async carryOut({ added, removed }: ChangeSet): Promise<void> {
    const { mempool, chain, toHost } = this.#parts;
    const [first] = added;
    if (first === undefined) return;
    this.#replacement = first.transaction;
    try {
      await this.#evict(removed);
    } finally {
      this.#replacement = undefined;
    }
    for (const { member } of added) mempool.removeOrphan(toHost(member.txid));
    const parents: HostTransaction[] = (this.#parents = []);
    try {
      for (const { transaction, view } of added) {
        this.#entryClass ??= await findEntryClass(mempool, transaction, view);
        await mempool.addEntry(this.#entryClass.fromTX(transaction, view, chain.tip.height), view);
      }
    } finally {
      this.#parents = undefined;
    }
    for (const parent of parents) await mempool.handleOrphans(parent);
  }

  /** A block was connected. */
  blockCame(): void {
    this.#rollingFloor.blockCame(this.#parts.now());
  }

  /** Drops what pays the least until the pool is within its bounds. */
  async limitSize(): Promise<void> {
    const { mempool } = this.#parts;
    const { maxSize } = mempool.options;
    if (mempool.getSize() <= maxSize) return;
    const before = mempool.getSize();
    for (const { fee, weight, nodes } of await runAhead(this.#worstFirst())) {
      const size = mempool.getSize();
      if (size <= maxSize && before - size >= maxSize * ROOM) return;
      await this.#evict(new Set(nodes));
      this.#rollingFloor.evicted(Math.floor((fee * VBYTES_PER_RATE * WEIGHT_PER_VBYTE) / weight));
    }
  }

  /** Drops what has been there for too long, and what spends from it. */
  async expire(): Promise<void> {
    const { mempool, now } = this.#parts;
    const before = now() - LIMITS.expirySeconds;
    const old = Array.from(mempool.map.values()).filter(({ time }) => time < before);
    await this.#evict(withDescendants(old.flatMap(({ tx }) => this.clusters.get(keyOf(tx.hash())) ?? [])));
  }

  /** Drops the end of clusters that have become too large: transactions of blocks that come back are not held up by limits. */
  async trimClusters(): Promise<void> {
    const seen = new Set<PooledCluster>();
    const slice = new Slice();
    for (const one of this.clusters.nodes()) {
      if (slice.isOver()) await setImmediate();
      const cluster = this.clusters.clusterOf(one);
      if (seen.has(cluster)) continue;
      seen.add(cluster);
      let [count, weight] = [cluster.nodes.size, 0];
      for (const { member } of cluster.nodes) weight += member.weight;
      if (count <= LIMITS.mostInCluster && weight <= LIMITS.mostClusterWeight) continue;
      // In this order each comes before all that spend from it.
      const order = (await runAhead(cluster.chunks())).flatMap(({ nodes }) => nodes);
      const dropped = new Set<PooledNode>();
      for (const node of order.reverse()) {
        if (count <= LIMITS.mostInCluster && weight <= LIMITS.mostClusterWeight) break;
        count--;
        weight -= node.member.weight;
        dropped.add(node);
      }
      await this.#evict(dropped);
    }
  }

  /** Drops a transaction and all that spend from it. */
  async evict(entry: HostPoolEntry): Promise<void> {
    const node = this.clusters.get(keyOf(entry.tx.hash()));
    if (node !== undefined) await this.#evict(withDescendants([node]));
  }

  /** Drops transactions, with all that spend from them; children first. */
  async #evict(nodes: ReadonlySet<PooledNode>): Promise<void> {
    const { mempool, toHost } = this.#parts;
    const slice = new Slice();
    for (const { member } of childrenFirst(nodes)) {
      const entry = mempool.getEntry(toHost(member.txid));
      if (entry) mempool.evictEntry(entry);
      if (slice.isOver()) await setImmediate();
    }
  }

  /** All chunks, those first that pay the least; within a cluster the last first. Yields often. */
  *#worstFirst(): Generator<void, PooledChunk[]> {
    const chunks: PooledChunk[] = [];
    const seen = new Set<PooledCluster>();
    for (const node of this.clusters.nodes()) {
      const cluster = this.clusters.clusterOf(node);
      if (seen.has(cluster)) continue;
      seen.add(cluster);
      chunks.push(...[...(yield* cluster.chunks())].reverse());
      yield;
    }
    return yield* sorted(chunks, compareRates);
  }

  #follow(): void {
    const { mempool } = this.#parts;
    const track = mempool.trackEntry.bind(mempool);
    const untrack = mempool.untrackEntry.bind(mempool);
    const reset = mempool._reset.bind(mempool);
    const handleOrphans = mempool.handleOrphans.bind(mempool);
    mempool.trackEntry = (entry, view) => {
      countBytes(entry);
      track(entry, view);
      this.#track(entry);
    };
    mempool.untrackEntry = (entry) => {
      untrack(entry);
      this.clusters.delete(keyOf(entry.tx.hash()));
    };
    // bcoin's own sums of what descendants pay are wrong once a transaction comes back after those that spend from it.
    mempool.updateAncestors = () => 0;
    mempool._reset = async () => {
      this.clusters.clear();
      await reset();
    };
    mempool.handleOrphans = async (parent) => {
      if (this.#parents === undefined) await handleOrphans(parent);
      else this.#parents.push(parent);
    };
  }

  /** What the entry and all that spend from it pay and take, by which bcoin's miner chooses, is summed up when it is asked for. */
  #sumDescendants(entry: HostPoolEntry, { key, size }: Member): void {
    const sum = (own: number, of: (member: Member) => number): number => {
      const node = this.clusters.get(key);
      return node === undefined ? own : [...withDescendants([node])].reduce((total, { member }) => total + of(member), 0);
    };
    // bcoin adds to them where an operator changes a fee.
    const set = (): void => undefined;
    Object.defineProperties(entry, {
      descFee: { get: () => sum(entry.deltaFee, ({ modifiedFee }) => modifiedFee), set },
      descSize: { get: () => sum(size, (member) => member.size), set }
    });
  }

  #track(entry: HostPoolEntry): void {
    const { mempool, toHost } = this.#parts;
    const member = new PooledMember(entry);
    this.#sumDescendants(entry, member);
    const hash = toHost(member.txid);
    const children = entry.tx.outputs.flatMap((_, index) => mempool.getSpent(hash, index) ?? []);
    this.clusters.add(
      member,
      entry.tx.inputs.map(({ prevout }) => keyOf(fromHost(prevout.hash))),
      children.map(({ tx }) => keyOf(tx.hash()))
    );
  }
}

/** bcoin counts the objects of a transaction, but not the bytes of its scripts and witnesses, of which there may be 400,000 here. */
function countBytes(entry: HostPoolEntry): void {
  const total = entry.memUsage() + entry.tx.toRaw().length;
  entry.memUsage = () => total;
}

/** The transactions in an order in which those that spend from others of them come before these. */
function childrenFirst(nodes: ReadonlySet<PooledNode>): PooledNode[] {
  const order: PooledNode[] = [];
  const left = new Map(Array.from(nodes, (node) => [node, countOf(node.children, nodes)]));
  const ready = [...left].flatMap(([node, children]) => (children === 0 ? [node] : []));
  for (const node of ready) {
    order.push(node);
    for (const parent of node.parents) {
      const children = left.get(parent);
      if (children === undefined) continue;
      left.set(parent, children - 1);
      if (children === 1) ready.push(parent);
    }
  }
  return order;
}

const countOf = (some: ReadonlySet<PooledNode>, nodes: ReadonlySet<PooledNode>): number =>
  [...some].reduce((count, node) => (nodes.has(node) ? count + 1 : count), 0);
