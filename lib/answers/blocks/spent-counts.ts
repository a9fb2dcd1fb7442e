// How many outputs each transaction of a block spends: only the block's bytes say that, the node's undo data does not.

import { spentCounts } from '../../bitcoin/block';
import { keyOf } from '../../bitcoin/hash';
import { MadeOnce } from '../../server/cache/made-once';
import { runInSlices } from '../../turns/slices';
import type { BlockPoint } from '../../node/types/chain';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';
import type { RawBlocks } from './raw-blocks';

interface CachedCounts extends Cached {
  readonly counts: Uint32Array;
}

export class SpentCounts {
  readonly #blocks: RawBlocks;
  readonly #cached: CacheSection<CachedCounts>;
  readonly #counting = new MadeOnce<Uint32Array | undefined>();

  constructor(blocks: RawBlocks, cache: AnswerCache) {
    this.#blocks = blocks;
    this.#cached = cache.section('spent-counts');
  }

  /** Undefined when the node does not have the block. `isActive`: whether it is in the active chain. */
  async of(block: BlockPoint, client: Client, isActive = true): Promise<Uint32Array | undefined> {
    const key = keyOf(block.hash);
    return this.#cached.get(key)?.counts ?? this.#counting.get(key, client, (everybody) => this.#count(block, key, everybody, isActive));
  }

  /** Whether `of` answers from memory. */
  has({ hash }: BlockPoint): boolean {
    return this.#cached.get(keyOf(hash)) !== undefined;
  }

  async #count(block: BlockPoint, key: string, client: Client, isActive: boolean): Promise<Uint32Array | undefined> {
    const raw = await this.#blocks.block(block, client, isActive);
    if (raw === undefined) return undefined;
    const counts = await runInSlices(spentCounts(raw), client);
    this.#cached.setIfAskedBefore(key, () => ({ counts, byteLength: counts.byteLength }));
    return counts;
  }
}
