// The rules for a step of an index's tip, up or down. They are the same for every index that follows the chain.

import { toDisplayHex } from '../../bitcoin/hash';
import { previousHashOf } from '../../bitcoin/header';
import { IndexError, TooDeepError } from '../../follow/errors';
import type { BlockPoint } from '../../node/types/chain';
import type { Store, StoreWrite } from '../../store/store';

export interface NextBlock extends BlockPoint {
  /** 80 bytes. */
  readonly header: Buffer;
}

/** @throws IndexError for a block that does not come right after the tip */
export function requireNext(tip: BlockPoint | undefined, { hash, height, header }: NextBlock, genesisHash: Buffer): void {
  const [name, previousHash] = [toDisplayHex(hash), previousHashOf(header)];
  if (tip === undefined && !hash.equals(genesisHash))
    throw new IndexError(`expected the genesis block ${toDisplayHex(genesisHash)}, got ${name}`);
  if (tip !== undefined && !previousHash.equals(tip.hash))
    throw new IndexError(
      `expected a block on top of ${toDisplayHex(tip.hash)} at height ${tip.height}, got ${name}, which follows ${toDisplayHex(previousHash)}`
    );
  const next = tip === undefined ? 0 : tip.height + 1;
  if (height !== next) throw new IndexError(`expected block ${name} at height ${next}, got it at ${height}`);
}

/** @throws IndexError at the genesis block and for an empty index */
export function requireUndoable(tip: BlockPoint | undefined): BlockPoint {
  if (tip !== undefined && tip.height > 0) return tip;
  const found = tip === undefined ? 'an empty index' : 'the genesis block';
  throw new IndexError(`expected a block above the genesis block to undo, got ${found}`);
}

/** @throws TooDeepError for a missing record */
export function requireUndo(record: Buffer | undefined, { height }: BlockPoint): Buffer {
  if (record === undefined) throw new TooDeepError(`expected an undo record for height ${height}, got none`);
  return record;
}

/**
 * Drops the undo records of an earlier run with a larger undo depth; each new block drops the one that has become too old. `keysAt`: give the
 * keys of a height.
 */
export async function dropOldUndo(
  store: Store,
  tip: BlockPoint | undefined,
  undoDepth: number,
  keysAt: readonly ((height: number) => Buffer)[]
): Promise<void> {
  const lowest = (tip?.height ?? 0) - undoDepth + 1;
  if (lowest <= 0) return;
  const writes: StoreWrite[] = [];
  for (const keyAt of keysAt)
    for await (const [key] of store.range({ gte: keyAt(0), lt: keyAt(lowest) })) writes.push({ type: 'del', key });
  if (writes.length > 0) await store.batch(writes, { durable: false });
}
