// The next blocks, as a miner would make them of the pool: chunk after chunk, the best first. A chunk that no longer fits waits for the next
// block, and with it the rest of its cluster. The last block of a projection has everything that is left, and may be many blocks high.

import { MAX_BLOCK_WEIGHT } from '../../bitcoin/consensus';
import { WEIGHT_PER_VBYTE } from '../../bitcoin/transaction';
import { CPFP_CHILD, CPFP_PARENT, transactionFlags } from '../../bitcoin/transaction-flags';
import { PoolGraph, type PoolNode } from '../order/graph';
import { PoolOrder, type PoolChunk } from '../order/order';
import { feeStatistics, NO_FEES, stackStatistics, type FeeStatistics } from './fee-statistics';
import type { PoolEntry } from '../../node/types/pool';
import type { PooledTransaction } from '../by-script/pooled-transaction';

/** As many as mempool's backend projects. */
export const MOST_BLOCKS = 8;

/** What miners keep for the header and the coinbase. */
const RESERVED_WEIGHT = 4_000;

/** A block that is as full as that, or has left out as many chunks, is not searched any further. */
const NEARLY_FULL = MAX_BLOCK_WEIGHT - 2 * RESERVED_WEIGHT;
const MOST_LEFT_OUT = 200;

/** The most that the transactions of one block are listed for: of a stack of blocks only the first. In virtual bytes. */
const MOST_LISTED_VSIZE = 1_200_000;

const STEPS = 256;

/** A transaction of the pool. The object is the same as long as nothing in it changes. */
export interface ProjectedTransaction {
  readonly txid: Buffer;
  readonly fee: number;
  readonly weight: number;
  /** Serialized size in bytes. */
  readonly size: number;
  /** Satoshis of all outputs. */
  readonly value: number;
  /** When it entered the pool, Unix time in seconds. */
  readonly time: number;
  /** Satoshis per virtual byte of its chunk. */
  readonly rate: number;
  readonly flags: number;
}

export interface ProjectedBlock {
  readonly size: number;
  readonly weight: number;
  readonly count: number;
  readonly totalFees: number;
  readonly statistics: FeeStatistics;
  /** In the order of the block. */
  readonly transactions: readonly ProjectedTransaction[];
}

/** Where a transaction would be: in which block, and how many virtual bytes are before its middle. */
export interface ProjectedPosition {
  readonly block: number;
  readonly vsize: number;
}

export interface Projection {
  readonly blocks: readonly ProjectedBlock[];
  /** A transaction among its relatives, as the latest projection has it. */
  find(txid: Buffer): PlacedTransaction | undefined;
}

export interface PlacedTransaction {
  readonly node: PoolNode;
  /** The transactions with which it is mined. */
  readonly chunk: PoolChunk;
  readonly position: ProjectedPosition;
}

interface Known {
  chunk: PoolChunk;
  transaction: ProjectedTransaction;
  block: number;
  vsize: number;
}

/** Follows the pool from one projection to the next, so that only what has changed is ordered again. */
export class ProjectedBlocks {
  readonly #pooled: (txid: Buffer) => PooledTransaction | undefined;
  readonly #graph = new PoolGraph();
  readonly #order = new PoolOrder();
  readonly #known = new Map<PoolNode, Known>();

  /** `pooled`: a transaction that may have left meanwhile. */
  constructor(pooled: (txid: Buffer) => PooledTransaction | undefined) {
    this.#pooled = pooled;
  }

  /** Transactions that are remembered. */
  get size(): number {
    return this.#known.size;
  }

  /** `entries`: of the pool. Yields often; must be run to its end before it is called again. */
  *update(entries: readonly PoolEntry[]): Generator<void, Projection> {
    const change = yield* this.#graph.update(entries);
    yield* this.#order.update(change);
    for (const node of change.removed) this.#known.delete(node);
    const blocks: ProjectedBlock[] = [];
    let waiting = this.#order.chunks;
    while (waiting.length > 0) {
      const isLast = blocks.length === MOST_BLOCKS - 1;
      const { taken, left } = isLast ? { taken: waiting, left: [] } : yield* oneBlock(waiting);
      blocks.push(yield* this.#block(taken, blocks.length));
      waiting = left;
    }
    return { blocks, find: this.#find };
  }

  readonly #find = (txid: Buffer): PlacedTransaction | undefined => {
    const node = this.#graph.find(txid);
    const known = node && this.#known.get(node);
    return node && known && { node, chunk: known.chunk, position: { block: known.block, vsize: known.vsize } };
  };

  *#block(chunks: readonly PoolChunk[], block: number): Generator<void, ProjectedBlock> {
    const transactions: ProjectedTransaction[] = [];
    let [size, weight, totalFees, vsize] = [0, 0, 0, 0];
    for (const chunk of chunks)
      for (const [place, node] of chunk.nodes.entries()) {
        const known = this.#knownOf(node, chunk, place);
        if (known === undefined) continue;
        const { transaction } = known;
        const own = transaction.weight / WEIGHT_PER_VBYTE;
        known.block = block;
        known.vsize = vsize + own / 2;
        transactions.push(transaction);
        vsize += own;
        size += transaction.size;
        weight += transaction.weight;
        totalFees += transaction.fee;
        if (transactions.length % STEPS === 0) yield;
      }
    const isStack = block === MOST_BLOCKS - 1 && weight > MAX_BLOCK_WEIGHT;
    const listed = isStack ? firstOf(transactions) : transactions;
    return {
      size,
      weight,
      count: transactions.length,
      totalFees,
      statistics: yield* statisticsOf(transactions, isStack),
      transactions: listed
    };
  }

  /** Undefined for a transaction that has left the pool before it was looked at. `place`: in its chunk. */
  #knownOf(node: PoolNode, chunk: PoolChunk, place: number): Known | undefined {
    const known = this.#known.get(node);
    if (known?.chunk === chunk) return known;
    const before = known?.transaction ?? this.#readTransaction(node);
    if (before === undefined) return undefined;
    const rate = chunk.fee / (chunk.weight / WEIGHT_PER_VBYTE);
    // As for mempool's backend: who is mined together, and who of them comes first.
    const relatives = (place > 0 ? CPFP_CHILD : 0) + (place < chunk.nodes.length - 1 ? CPFP_PARENT : 0);
    const flags = before.flags - flagsIn(before.flags) + relatives;
    const transaction = before.rate === rate && before.flags === flags ? before : { ...before, rate, flags };
    const made = { chunk, transaction, block: 0, vsize: 0 };
    this.#known.set(node, made);
    return made;
  }

  #readTransaction({ entry: { txid, time } }: PoolNode): ProjectedTransaction | undefined {
    const pooled = this.#pooled(txid);
    if (pooled === undefined) return undefined;
    const { transaction, spent, fee, weight, raw } = pooled;
    const value = transaction.outputs.reduce((sum, output) => sum + output.value, 0);
    const flags = transactionFlags(
      transaction,
      spent.map(({ script }) => script)
    );
    return { txid, fee, weight, size: raw.length, value, time, rate: 0, flags };
  }
}

/** Flags have more than 32 bits, which bitwise operators do not. */
const flagsIn = (flags: number): number => flags & (CPFP_PARENT | CPFP_CHILD);

/** One transaction alone tells nothing, as for mempool's backend. */
function* statisticsOf(transactions: readonly ProjectedTransaction[], isStack: boolean): Generator<void, FeeStatistics> {
  if (isStack) return yield* stackStatistics(transactions);
  return transactions.length <= 1 ? NO_FEES : yield* feeStatistics(transactions);
}

/** Fills a block; what is left stays in its order. */
function* oneBlock(chunks: readonly PoolChunk[]): Generator<void, { taken: PoolChunk[]; left: PoolChunk[] }> {
  const taken: PoolChunk[] = [];
  const left: PoolChunk[] = [];
  const incomplete = new Set<PoolChunk['cluster']>();
  let weight = RESERVED_WEIGHT;
  for (const [i, chunk] of chunks.entries()) {
    if (i % STEPS === STEPS - 1) yield;
    if (weight >= NEARLY_FULL || left.length >= MOST_LEFT_OUT) {
      for (const rest of chunks.slice(i)) left.push(rest);
      break;
    }
    if (weight + chunk.weight <= MAX_BLOCK_WEIGHT && !incomplete.has(chunk.cluster)) {
      taken.push(chunk);
      weight += chunk.weight;
    } else {
      left.push(chunk);
      incomplete.add(chunk.cluster);
    }
  }
  // A chunk that is heavier than a block is a block of its own.
  const [first] = left;
  return taken.length === 0 && first !== undefined ? { taken: [first], left: left.slice(1) } : { taken, left };
}

function firstOf(transactions: readonly ProjectedTransaction[]): readonly ProjectedTransaction[] {
  let vsize = 0;
  const end = transactions.findIndex(({ weight }) => (vsize += weight / WEIGHT_PER_VBYTE) > MOST_LISTED_VSIZE);
  return end < 0 ? transactions : transactions.slice(0, end);
}
