import { blockRows } from '../../../lib/index/scan/rows';
import type { BlockBatch } from '../../../lib/index/write/block-batch';
import type { IndexWriter } from '../../../lib/index/write/index-writer';

/** Adds serialized blocks to a batch of a writer, each on top of the one before. */
export async function addBlocks(batch: BlockBatch, blocks: readonly Buffer[], { hasher }: IndexWriter): Promise<void> {
  for (const raw of blocks) await batch.add(blockRows(raw, (batch.end.chain.tip?.height ?? -1) + 1, hasher));
}
