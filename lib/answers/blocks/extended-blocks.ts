// Blocks with what their transactions pay, as mempool's interface shows them. That takes reading the whole block and what it spends, so it is
// done once for each block and kept.

import { keyOf } from '../../bitcoin/hash';
import { MadeOnce } from '../../server/cache/made-once';
import { runInSlices } from '../../turns/slices';
import { extendedBlockText, rewardOf } from '../../views/esplora/extended-block';
import { blockFigures, type BlockFigures } from './block-figures';
import type { HeaderRecord } from '../../index/types';
import type { NodeSource } from '../../node/types/source';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';
import type { RawBlocks } from './raw-blocks';
import type { SpentOutputs } from './spent-outputs';

export interface ExtendedBlock {
  /** JSON. */
  readonly text: Buffer;
  /** Satoshis that the coinbase pays. */
  readonly reward: number;
  readonly totalFees: number;
  readonly transactionCount: number;
}

interface CachedBlock extends Cached, ExtendedBlock {}

export interface ExtendedBlocksParts {
  readonly node: Pick<NodeSource, 'network'>;
  readonly blocks: RawBlocks;
  readonly spent: SpentOutputs;
  readonly cache: AnswerCache;
}

export class ExtendedBlocks {
  readonly #parts: ExtendedBlocksParts;
  readonly #cached: CacheSection<CachedBlock>;
  readonly #making = new MadeOnce<ExtendedBlock | undefined>();

  constructor(parts: ExtendedBlocksParts) {
    this.#parts = parts;
    this.#cached = parts.cache.section('extended-block');
  }

  /** A block of the active chain. Undefined when the node no longer has it, or what it spends. */
  async of(block: HeaderRecord, client: Client): Promise<ExtendedBlock | undefined> {
    const key = keyOf(block.hash);
    return this.#cached.get(key) ?? this.#making.get(key, client, (everybody) => this.#make(block, key, everybody));
  }

  /** As `of`, with all transactions. They are not kept. */
  async figuresOf(block: HeaderRecord, client: Client): Promise<BlockFigures | undefined> {
    const { blocks, spent } = this.#parts;
    const raw = await blocks.block(block, client);
    if (raw === undefined) return undefined;
    // The node has nothing for a block that spends nothing.
    const outputs = (await spent.of(block.hash)) ?? (block.transactionCount === 1 ? [] : undefined);
    return outputs && runInSlices(blockFigures(raw, outputs), client);
  }

  async #make(block: HeaderRecord, key: string, client: Client): Promise<ExtendedBlock | undefined> {
    const figures = await this.figuresOf(block, client);
    if (figures === undefined) return undefined;
    const { coinbase, totalFees, statistics, length, weight } = figures;
    const transactionCount = figures.transactions.length;
    const shown = { ...block, length, weight, transactionCount };
    const extras = { ...figures, medianFee: statistics.median, feeRange: statistics.range };
    const text = extendedBlockText(shown, extras, this.#parts.node.network.addressPrefixes);
    const made: CachedBlock = { text, byteLength: text.buffer.byteLength, reward: rewardOf(coinbase), totalFees, transactionCount };
    this.#cached.set(key, made);
    return made;
  }
}
