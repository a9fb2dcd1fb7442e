// A block that the node knows, on the active chain or off it: its place.

import { chainMoving } from '../../server/errors';
import type { HeaderRecord, IndexReader, IndexSnapshot } from '../../index/types';
import type { NodeSource } from '../../node/types/source';
import type { BlockContext } from '../../views/block';
import type { RawBlocks } from './raw-blocks';

/** What the JSON of a block needs besides the block's bytes. */
export interface KnownBlock extends Pick<BlockContext, 'height' | 'confirmations' | 'chainwork' | 'medianTime' | 'nextHash'> {
  readonly hash: Buffer;
  /** Undefined: not known without the block's bytes. */
  readonly transactionCount?: number | undefined;
  /** The tip of the state of the index in which the block is on the active chain; undefined if it is off the chain. */
  readonly tip?: HeaderRecord;
}

export interface KnownBlocksParts {
  readonly node: NodeSource;
  readonly reader: IndexReader;
  readonly blocks: RawBlocks;
}

/** A block of the active chain, as the index has it. */
export function findActiveBlock(hash: Buffer, { reader }: Pick<KnownBlocksParts, 'reader'>): KnownBlock | undefined {
  return reader.read((snapshot) => activeBlock(hash, snapshot));
}

/** Any other block that the node knows. @throws HttpError 503 while the chain moves */
export async function findOtherBlock(hash: Buffer, { node }: Pick<KnownBlocksParts, 'node'>): Promise<KnownBlock | undefined> {
  const entry = await node.entry(hash);
  if (entry === undefined) {
    if (node.resetting) throw chainMoving();
    return undefined;
  }
  const { height, chainwork, medianTime } = entry;
  return { hash, height, confirmations: -1, chainwork, medianTime };
}

/** For a block whose bytes or undo data the node does not have. @throws HttpError 503 when the reason is that the chain moves */
export async function requireSettled(block: KnownBlock, { node, blocks }: KnownBlocksParts): Promise<void> {
  if (block.tip !== undefined) await blocks.requireActive(block);
  else if (node.resetting) throw chainMoving();
}

function activeBlock(hash: Buffer, snapshot: IndexSnapshot): KnownBlock | undefined {
  const height = snapshot.heightOf(hash);
  const run = height === undefined ? undefined : snapshot.headerRun(height, 1);
  if (run === undefined) return undefined;
  const { chainwork, medianTime, transactionCount } = run.detailsAt(0);
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
