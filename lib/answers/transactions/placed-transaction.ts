// Transactions of the chain whose position is known.

import { unavailable } from '../../server/errors';
import type { ScannedTransaction } from '../../bitcoin/transaction';
import type { Position, IndexSnapshot } from '../../index/types';
import type { Client } from '../../turns/client';
import type { RawBlocks } from '../blocks/raw-blocks';

/** A transaction and its position. A script's row is one. */
export interface Placed {
  readonly txid: Buffer;
  readonly position: Position;
}

/** Reads the transaction. @throws HttpError 503 when the node no longer has its bytes */
export async function placedTransaction(
  blocks: RawBlocks,
  { position, txid }: Placed,
  index: IndexSnapshot,
  client: Client
): Promise<ScannedTransaction> {
  const found = blocks.at(position, txid, index);
  const transaction = found && (await found.read(client));
  if (transaction !== undefined) return transaction;
  if (found !== undefined) await blocks.requireActive(found.block);
  throw unavailable(`the node does not have the block at height ${position.height}`);
}
