// Blocks that the node knows, on the active chain or off it, and the errors about those that it does not have.

import { findActiveBlock, findOtherBlock, requireSettled, type KnownBlock } from '../answers/blocks/known-block';
import { misc } from '../answers/errors';
import { blockNotFound } from './errors';
import type { CallContext } from './call';

/** @throws CallError -5; HttpError 503 while the chain moves */
export async function knownBlock(hash: Buffer, context: CallContext): Promise<KnownBlock> {
  const block = findActiveBlock(hash, context) ?? (await findOtherBlock(hash, context));
  if (block === undefined) throw blockNotFound();
  return block;
}

/** For a block whose bytes the node does not have. @throws CallError -1; HttpError 503 while the chain moves */
export async function refuseBlock(block: KnownBlock, context: CallContext): Promise<never> {
  await requireSettled(block, context);
  throw misc('Block not available (pruned data)');
}
