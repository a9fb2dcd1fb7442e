// A block that the node knows, on the active chain or off it: its place, and the error when its bytes are gone.

import { detailsAt } from '../../views/header';
import { chainMoving } from '../../server/errors';
import { notFound, prunedBlock } from '../errors';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';
import type { BlockContext } from '../../views/block';
import type { Answers } from '../../answers/answers';

/** What the JSON of a block needs besides the block's bytes. */
export interface KnownBlock extends Pick<BlockContext, 'height' | 'confirmations' | 'chainwork' | 'medianTime' | 'nextHash'> {
  readonly hash: Buffer;
  /** Undefined: not known without the block's bytes. */
  readonly transactionCount?: number | undefined;
  /** The tip of the state of the index in which the block is on the active chain; undefined if it is off the chain. */
  readonly tip?: HeaderRecord;
}

/** A block of the active chain, as the index has it. */
export function findActiveBlock(hash: Buffer, { reader }: Answers): KnownBlock | undefined {
  return reader.read((snapshot) => activeBlock(hash, snapshot));
}

/** Any other block. `parameter`: the hash as typed. @throws HttpError 404, and 503 while the chain moves. */
export async function findOtherBlock(hash: Buffer, parameter: string, { node }: Answers): Promise<KnownBlock> {
  const entry = await node.entry(hash);
  if (entry === undefined) throw node.resetting ? chainMoving() : notFound(parameter);
  const { height, chainwork, medianTime } = entry;
  return { hash, height, confirmations: -1, chainwork, medianTime };
}

/** For a block whose bytes or undo data the node does not have. @throws HttpError 503 when the reason is that the chain moves. */
export async function requireSettled(block: KnownBlock, { node, blocks }: Answers): Promise<void> {
  if (block.tip !== undefined) await blocks.requireActive(block);
  else if (node.resetting) throw chainMoving();
}

/** For a block whose bytes the node does not have. @throws HttpError */
export async function refuseBlock(block: KnownBlock, parameter: string, context: Answers): Promise<never> {
  await requireSettled(block, context);
  throw context.node.pruned ? prunedBlock(parameter) : notFound(parameter);
}

function activeBlock(hash: Buffer, snapshot: IndexSnapshot): KnownBlock | undefined {
  const height = snapshot.heightOf(hash);
  const run = height === undefined ? undefined : snapshot.headerRun(height, 1);
  if (run === undefined) return undefined;
  const { chainwork, medianTime, transactionCount } = detailsAt(run, 0);
  return {
    tip: snapshot.tip,
    hash,
    height: run.height,
    confirmations: snapshot.tip.height - run.height + 1,
    chainwork,
    medianTime,
    transactionCount: transactionCount === 0 ? undefined : transactionCount,
    nextHash: run.nextHash
  };
}
