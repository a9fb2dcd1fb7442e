// Blocks of a stopped node, with the outputs that they spend, in the form in which the index by script takes them in.

import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { scriptBlock } from '../../../lib/scripts/scan/node-blocks';
import { ImpossibleError } from './errors';
import type { NodeSource } from '../../../lib/node/types';
import type { ScriptBlock } from '../../../lib/scripts/scan/rows';

/** The block at a height of the node's chain. @throws ImpossibleError when the node has not kept the block or its undo data. */
export async function scriptBlockAt(node: NodeSource, height: number): Promise<ScriptBlock> {
  const hash = await node.activeHash(height);
  if (hash === undefined) throw lacking(`block ${height}`);
  const block = await scriptBlock({ height, hash }, node);
  if (typeof block !== 'string') return block;
  throw lacking(`${block === 'block' ? 'block' : 'the undo data of block'} ${height} (${toDisplayHex(hash)})`);
}

function lacking(what: string): ImpossibleError {
  return new ImpossibleError(
    `the node has not kept ${what}, and an index by script can only be computed from all blocks and what they spend`
  );
}
