// Whether an index can be built again from what the node has. One that cannot is never emptied:
// what is in it may be all that is left of blocks that the node has thrown away.

import type { NodeSource } from '../../node/types';
import type { BootstrapFrom } from '../types';

/** The index would have to be built anew, and cannot be: it stays as it is, and nobody is answered from it. */
export class NotRebuildableError extends Error {
  override readonly name = 'NotRebuildableError';
}

/** Why it cannot be built from the node's blocks or coins, and what to do, without a full stop; undefined: it can. */
export async function whyNotRebuildable(node: Pick<NodeSource, 'hasAllBlocks'>, from: BootstrapFrom): Promise<string | undefined> {
  if (from === 'coins' || await node.hasAllBlocks()) return undefined;
  return 'the node has thrown blocks away (--prune), without which the index cannot be built anew: it was left as it is; '
    + 'with --rest-bootstrap=coins it is built anew from the coins that the node holds';
}

/** @throws NotRebuildableError that says why the index has to be built anew, why it cannot be, and what to do. */
export async function requireRebuildable(node: Pick<NodeSource, 'hasAllBlocks'>, from: BootstrapFrom, reason: Error): Promise<void> {
  const why = await whyNotRebuildable(node, from);
  if (why !== undefined) throw new NotRebuildableError(`${reason.message}; ${why}`, { cause: reason });
}
