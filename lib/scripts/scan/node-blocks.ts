// The node's blocks with the outputs that they spend, as the index by script needs them.

import { spentCounts } from '../../bitcoin/block';
import { toDisplayHex } from '../../bitcoin/hash';
import { MalformedBytesError } from '../../bitcoin/reader';
import { ChainMovedError, UnreadableBlockError } from '../../node/errors';
import { runAtOnce } from '../../turns/slices';
import { MissingBlocksError } from '../errors';
import type { BlockPoint } from '../../node/types/chain';
import type { NodeSource } from '../../node/types/source';
import type { ScriptBlock } from './rows';

/** The part of a block that a node may lack. */
export type Lacking = 'block' | 'undo data';

/**
 * A block, or the part that the node lacks, as it may while the chain is being reset. `known`: the bytes of the block, if at hand.
 * @throws UnreadableBlockError
 */
export async function scriptBlock(
  point: BlockPoint,
  node: Pick<NodeSource, 'rawBlock' | 'spentOutputs' | 'txidsOf'>,
  known?: Buffer
): Promise<ScriptBlock | Lacking> {
  const raw = known ?? (await node.rawBlock(point.hash));
  if (raw === undefined) return 'block';
  const counts = countsOf(point, raw);
  const txids = node.txidsOf?.(raw);
  if (counts.every((count) => count === 0)) return { point, raw, spent: undefined, txids };
  const spent = await node.spentOutputs(point.hash, counts);
  return spent === undefined ? 'undo data' : { point, raw, spent, txids };
}

/** `what`: a clause that says what is missing. */
export function missingBlocks(what: string): MissingBlocksError {
  return new MissingBlocksError(
    `--rest-addresses needs all blocks and their undo data: ${what}. Sync the node again without --prune, or leave the option out`
  );
}

/** Why the node lacks a part of a block: the block has left the chain, or the node has thrown it away. */
export async function whyMissing(
  what: Lacking,
  point: BlockPoint,
  node: Pick<NodeSource, 'resetting' | 'activeHash'>
): Promise<ChainMovedError | MissingBlocksError> {
  const { height, hash } = point;
  // A reset removes blocks before it sends its event.
  if (node.resetting || (await node.activeHash(height))?.equals(hash) !== true)
    return new ChainMovedError(`the block at height ${height} is not in the chain any more`);
  return missingPart(what, point);
}

/** The error for a block that is in the node's chain. */
export function missingPart(what: Lacking, { height, hash }: BlockPoint): MissingBlocksError {
  const part = what === 'block' ? 'block' : 'the undo data of block';
  return missingBlocks(`the node lacks ${part} ${height} (${toDisplayHex(hash)})`);
}

function countsOf({ hash }: BlockPoint, raw: Buffer): Uint32Array {
  try {
    return runAtOnce(spentCounts(raw));
  } catch (error) {
    throw error instanceof MalformedBytesError ? new UnreadableBlockError(hash, error) : error;
  }
}
