// The node's blocks with what they spend, as the index by script takes them in.

import { spentCounts } from '../../bitcoin/block';
import { toDisplayHex } from '../../bitcoin/hash';
import { MalformedBytesError } from '../../bitcoin/reader';
import { UnreadableBlockError } from '../../node/errors';
import { MissingBlocksError } from '../errors';
import type { BlockPoint, NodeSource } from '../../node/types';
import type { ScriptBlock } from './rows';

/** What of a block a node may lack. */
export type Lacking = 'block' | 'undo data';

/**
 * A block, or what of it the node lacks, as it may while the chain is being reset. `known`: the bytes of the block, if they are at hand.
 * @throws UnreadableBlockError
 */
export async function scriptBlock(
  point: BlockPoint,
  node: Pick<NodeSource, 'rawBlock' | 'spentOutputs'>,
  known?: Buffer
): Promise<ScriptBlock | Lacking> {
  const raw = known ?? (await node.rawBlock(point.hash));
  if (raw === undefined) return 'block';
  const counts = countsOf(point, raw);
  if (counts.every((count) => count === 0)) return { point, raw, spent: undefined };
  const spent = await node.spentOutputs(point.hash, counts);
  return spent === undefined ? 'undo data' : { point, raw, spent };
}

/** `what`: what is missing, as a clause. */
export function missingBlocks(what: string): MissingBlocksError {
  return new MissingBlocksError(
    `--rest-addresses needs all blocks and their undo data: ${what}. Sync the node again without --prune, or leave the option out`
  );
}

/** For a block that is in the node's chain. */
export function missingPart(what: Lacking, { height, hash }: BlockPoint): MissingBlocksError {
  const part = what === 'block' ? 'block' : 'the undo data of block';
  return missingBlocks(`the node lacks ${part} ${height} (${toDisplayHex(hash)})`);
}

function countsOf({ hash }: BlockPoint, raw: Buffer): Uint32Array {
  try {
    return spentCounts(raw);
  } catch (error) {
    throw error instanceof MalformedBytesError ? new UnreadableBlockError(hash, error) : error;
  }
}
