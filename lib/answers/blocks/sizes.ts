// The sizes of blocks. A block's weight can only be computed from its bytes, and the blocks at the tip are asked for again and again.

import { LRUCache } from 'lru-cache';
import { keyOf } from '../../bitcoin/hash';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { ByteReader } from '../../bitcoin/reader';
import { readTransaction } from '../../bitcoin/transaction';
import { runInSlices } from '../../turns/slices';
import type { BlockPoint } from '../../node/types/chain';
import type { CacheUse } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';
import type { RawBlocks } from './raw-blocks';

export interface BlockSize {
  /** In bytes, with witnesses. */
  readonly length: number;
  readonly weight: number;
  readonly transactionCount: number;
}

/** Sizes that are cached, 300 bytes each. */
const MOST_BLOCKS = 4_096;

const TRANSACTIONS_PER_SLICE = 64;

export class BlockSizes {
  readonly use: CacheUse = { hits: 0, misses: 0 };
  readonly #blocks: RawBlocks;
  readonly #known = new LRUCache<string, BlockSize>({ max: MOST_BLOCKS });

  constructor(blocks: RawBlocks) {
    this.#blocks = blocks;
  }

  get entries(): number {
    return this.#known.size;
  }

  /** The size of a block of the active chain. Undefined when the node no longer has the block. */
  async of(block: BlockPoint, client: Client): Promise<BlockSize | undefined> {
    const key = keyOf(block.hash);
    const known = this.#known.get(key);
    if (known !== undefined) {
      this.use.hits++;
      return known;
    }
    this.use.misses++;
    const raw = await this.#blocks.block(block, client);
    if (raw === undefined) return undefined;
    const size = await runInSlices(sizeOf(raw), client);
    this.#known.set(key, size);
    return size;
  }
}

function* sizeOf(raw: Buffer): Generator<void, BlockSize> {
  const reader = new ByteReader(raw, HEADER_LENGTH);
  const transactionCount = reader.compactSize();
  let strippedLength = reader.offset;
  for (let i = 0; i < transactionCount; i++) {
    strippedLength += readTransaction(reader).strippedLength;
    if (i % TRANSACTIONS_PER_SLICE === TRANSACTIONS_PER_SLICE - 1) yield;
  }
  return { length: raw.length, weight: 3 * strippedLength + raw.length, transactionCount };
}
