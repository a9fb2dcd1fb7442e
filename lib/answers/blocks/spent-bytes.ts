// The outputs that blocks spend, serialized as in `spenttxouts`; those that are asked for again come from memory. They are found by hash.
// For blocks off the active chain they are never answered from memory.

import { keyOf } from '../../bitcoin/hash';
import { ownCopy } from '../../system/own-copy';
import { MadeOnce } from '../../server/cache/made-once';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';
import type { BlockPoint } from '../../node/types/chain';
import type { NodeSource } from '../../node/types/source';
import type { Client } from '../../turns/client';
import type { RawBlocks } from './raw-blocks';
import type { SpentCounts } from './spent-counts';

/** A serialized block of one transaction, which spends nothing. */
const NOTHING = Buffer.from([1, 0]);

interface CachedBytes extends Cached {
  readonly bytes: Buffer;
}

/** A block whose spent outputs are wanted. */
export interface SpendingBlock extends BlockPoint {
  readonly isActive: boolean;
  /** Undefined: not known without the block's bytes. */
  readonly transactionCount?: number | undefined;
}

export class SpentBytes {
  readonly #node: NodeSource;
  readonly #blocks: RawBlocks;
  readonly #cached: CacheSection<CachedBytes>;
  readonly #counts: SpentCounts;
  readonly #reading = new MadeOnce<Buffer | undefined>();

  constructor(node: NodeSource, blocks: RawBlocks, counts: SpentCounts, cache: AnswerCache) {
    this.#node = node;
    this.#blocks = blocks;
    this.#cached = cache.section('spent');
    this.#counts = counts;
  }

  /** Undefined when the node lacks the undo data or the block. */
  async of(block: SpendingBlock, client: Client): Promise<Buffer | undefined> {
    if (this.#node.network.genesisHash.equals(block.hash)) return NOTHING;
    if (block.isActive && this.#blocks.isPruned(block)) return undefined;
    // A coinbase alone: the node need not be asked.
    if (block.transactionCount === 1) return NOTHING;
    const key = keyOf(block.hash);
    const cached = block.isActive ? this.#cached.get(key) : undefined;
    return cached?.bytes ?? this.#reading.get(key, client, (everybody) => this.#read(block, key, everybody));
  }

  async #read(block: SpendingBlock, key: string, client: Client): Promise<Buffer | undefined> {
    const counts = await this.#counts.of(block, client, block.isActive);
    if (counts === undefined) return undefined;
    if (counts.length === 1) return NOTHING;
    const bytes = await this.#node.spentOutputs(block.hash, counts);
    if (bytes !== undefined && block.isActive)
      this.#cached.setIfAskedBefore(key, () => {
        const own = ownCopy(bytes);
        return { bytes: own, byteLength: own.length };
      });
    return bytes;
  }
}
