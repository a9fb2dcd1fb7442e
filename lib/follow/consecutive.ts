// The next blocks of the chain for an index that is behind it, a batch at a time.

import { previousHashOf } from '../bitcoin/header';
import { prefetch } from './prefetch';
import type { BlockPoint } from '../node/types/chain';

/** Size of a batch, in bytes of blocks, and in blocks, since on regtest a block has 250 bytes. */
const BATCH_BYTES = 8_000_000;
const BATCH_BLOCKS = 500;

/** A block with its bytes. */
export interface RawBlock {
  readonly point: BlockPoint;
  readonly raw: Buffer;
}

/**
 * Blocks of the heights from `from` to `target` that follow one another, as many as fit into a batch; fewer, or none, if `fetch` lacks one,
 * or the chain moves meanwhile, or after the signal. `before`: hash of the block below the first; undefined: it is not known.
 */
export async function consecutiveBlocks<Block extends RawBlock>(
  from: number,
  target: number,
  before: Buffer | undefined,
  signal: AbortSignal,
  fetch: (height: number) => Promise<Block | undefined>
): Promise<Block[]> {
  const blocks: Block[] = [];
  let bytes = 0;
  let last = before;
  for await (const { block } of prefetch(from, Math.min(BATCH_BLOCKS, target - from + 1), 1, fetch)) {
    if (block === undefined || (last !== undefined && !previousHashOf(block.raw).equals(last))) break;
    last = block.point.hash;
    bytes += block.raw.length;
    blocks.push(block);
    if (bytes >= BATCH_BYTES || signal.aborted) break;
  }
  return blocks;
}
