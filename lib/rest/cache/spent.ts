// What blocks spend, as bytes in the form of `spenttxouts`: those that are asked for again from memory. They are found by hash, as blocks are,
// and like blocks off the active chain theirs are never answered from memory.

import { spentCountsInSteps } from '../../bitcoin/block';
import { MadeOnce, type AnswerCache, type Cached, type Shelf } from './answers';
import { keyOf, type RawBlocks } from './blocks';
import { runInSlices } from '../server/slices';
import type { BlockPoint, NodeSource } from '../../node/types';
import type { Waiting } from '../server/work-queue';

/** One transaction, which spends nothing. */
const NOTHING = Buffer.from([1, 0]);

interface CachedBytes extends Cached {
  readonly bytes: Buffer;
}

interface CachedCounts extends Cached {
  readonly counts: Uint32Array;
}

/** A block whose spent outputs are wanted. */
export interface SpendingBlock extends BlockPoint {
  readonly isActive: boolean;
  /** Undefined: not known without its bytes. */
  readonly transactionCount?: number | undefined;
}

export class SpentBytes {
  readonly #node: NodeSource;
  readonly #blocks: RawBlocks;
  readonly #cached: Shelf<CachedBytes>;
  /** The node's undo data does not say which transaction a coin belongs to: only the block's bytes do. */
  readonly #counts: Shelf<CachedCounts>;
  readonly #reading = new MadeOnce<Buffer | undefined>();

  constructor(node: NodeSource, blocks: RawBlocks, cache: AnswerCache) {
    this.#node = node;
    this.#blocks = blocks;
    this.#cached = cache.shelf('spent');
    this.#counts = cache.shelf('spent-counts');
  }

  /** Undefined when the node does not have them, or not the block. */
  async of(block: SpendingBlock, client: Waiting): Promise<Buffer | undefined> {
    if (this.#node.network.genesisHash.equals(block.hash)) return NOTHING;
    if (block.isActive && this.#blocks.isPruned(block)) return undefined;
    // Needs nothing of the node.
    if (block.transactionCount === 1) return NOTHING;
    const key = keyOf(block.hash);
    const cached = block.isActive ? this.#cached.get(key) : undefined;
    return cached?.bytes ?? this.#reading.get(key, client, (everybody) => this.#read(block, key, everybody));
  }

  async #read(block: SpendingBlock, key: string, client: Waiting): Promise<Buffer | undefined> {
    const counts = await this.#countsOf(block, key, client);
    if (counts === undefined) return undefined;
    if (counts.length === 1) return NOTHING;
    const bytes = await this.#node.spentOutputs(block.hash, counts);
    if (bytes !== undefined && block.isActive)
      this.#cached.offer(key, () => {
        // Room that was left would be kept as well.
        const own = Buffer.allocUnsafeSlow(bytes.length);
        bytes.copy(own);
        return { bytes: own, byteLength: own.length };
      });
    return bytes;
  }

  async #countsOf(block: SpendingBlock, key: string, client: Waiting): Promise<Uint32Array | undefined> {
    const cached = this.#counts.get(key);
    if (cached !== undefined) return cached.counts;
    const raw = await (block.isActive ? this.#blocks.block(block, client) : this.#node.rawBlock(block.hash));
    if (raw === undefined) return undefined;
    const counts = await runInSlices(spentCountsInSteps(raw), client);
    this.#counts.offer(key, () => ({ counts, byteLength: counts.byteLength }));
    return counts;
  }
}
