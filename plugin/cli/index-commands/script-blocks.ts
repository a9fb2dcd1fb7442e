// Blocks of a stopped node, and what they spend, as the index by script takes them in.

import { spentCounts } from '../../../lib/bitcoin/block';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { ImpossibleError } from './command';
import type { NodeSource } from '../../../lib/node/types';
import type { ScriptBlock } from '../../../lib/scripts/scan/rows';

/** The block at a height of the node's chain. @throws ImpossibleError when the node has not kept it, or what it spends. */
export async function scriptBlockAt(node: NodeSource, height: number): Promise<ScriptBlock> {
  const hash = await node.activeHash(height);
  const raw = hash && (await node.rawBlock(hash));
  if (hash === undefined || raw === undefined) throw lacking(`block ${height}${hash === undefined ? '' : ` (${toDisplayHex(hash)})`}`);
  const point = { height, hash };
  const counts = spentCounts(raw);
  if (!counts.some((count) => count > 0)) return { point, raw, spent: undefined };
  const spent = await node.spentOutputs(hash, counts);
  if (spent === undefined) throw lacking(`the undo data of block ${height} (${toDisplayHex(hash)})`);
  return { point, raw, spent };
}

function lacking(what: string): ImpossibleError {
  return new ImpossibleError(
    `the node has not kept ${what}, and an index by script can only be computed from all blocks and what they spend`
  );
}
