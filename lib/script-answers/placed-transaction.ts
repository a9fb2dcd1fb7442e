// The bytes of a transaction of the chain.

import { unavailable } from '../rest/errors';
import type { Position } from '../index/records/position';
import type { IndexSnapshot } from '../index/types';
import type { RawBlocks } from '../rest/cache/blocks';
import type { Waiting } from '../rest/server/work-queue';

/** A transaction of the chain. A row of a script is one. */
export interface Placed {
  readonly txid: Buffer;
  readonly position: Position;
}

/** @throws RestError 503 when the node does not have them any more */
export async function transactionBytes(
  blocks: RawBlocks,
  { position, txid }: Placed,
  index: IndexSnapshot,
  client: Waiting
): Promise<Buffer> {
  const found = blocks.at(position, txid, index);
  const raw = found && (await found.read(client));
  if (raw !== undefined) return raw;
  if (found !== undefined) await blocks.requireActive(found.block);
  throw unavailable(`the node does not have the block at height ${position.height}`);
}
