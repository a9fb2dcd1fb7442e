// The coins that a block spent, as a node stores them for disconnecting it, in bcoin 1.x and 2.x: the number of coins and the coins, in
// the order of the block's inputs, including coins that the block itself made. They are in the chain database of 1.x, under `u` and the
// block's hash, or in the block store of 2.x. A block that spends nothing has no record. 1.x deletes the record when the block is
// disconnected, 2.x when it is pruned.

import { setImmediate } from 'node:timers/promises';
import { LONGEST_COMPACT_SIZE, MalformedBytesError, writeCompactSize } from '../bitcoin/reader';
import { Slice } from '../turns/slices';
import { StoredCoinReader } from './stored-coin';
import type { HostNode } from './host';
import type { SpentNodeCoin, SpentSpan } from './types/coins';

/** undefined: the node has none. */
export async function readUndo(hash: Buffer, { blocks, chain }: HostNode): Promise<Buffer | undefined> {
  const record = await (blocks === undefined ? chain.db.db.get(Buffer.concat([Buffer.from('u'), hash])) : blocks.readUndo(hash));
  return record ?? undefined;
}

/** The coins of a record, in the order in which the block spends them. @throws MalformedBytesError */
export function* undoCoins(record: Buffer): Generator<SpentNodeCoin, void> {
  const reader = new StoredCoinReader(record);
  for (let left = reader.u32(); left > 0; left--) yield reader.coin();
}

/** All coins of a record, read in slices. @throws MalformedBytesError */
export async function coinsOf(record: Buffer): Promise<readonly SpentNodeCoin[]> {
  const coins: SpentNodeCoin[] = [];
  const slice = new Slice();
  for (const coin of undoCoins(record)) {
    coins.push(coin);
    if (slice.isOverAfterStep()) await setImmediate();
  }
  return coins;
}

/** `count` coins from number `start` on. Skipping those before costs next to nothing. @throws MalformedBytesError when there are fewer */
export async function spanOf(record: Buffer, { start, count }: SpentSpan): Promise<readonly SpentNodeCoin[]> {
  const reader = new StoredCoinReader(record);
  const stored = reader.u32();
  if (stored < start + count) throw new MalformedBytesError(`${start + count} coins`, `${stored}`, 0);
  for (let left = start; left > 0; left--) reader.skipCoin();
  const coins: SpentNodeCoin[] = [];
  const slice = new Slice();
  while (coins.length < count) {
    coins.push(reader.coin());
    if (slice.isOverAfterStep()) await setImmediate();
  }
  return coins;
}

/**
 * The spent coins as bytes, straight from the record: the number of transactions, and for each one the number of its inputs, and value
 * and script of each coin that they spend. `counts`: inputs of each transaction, 0 for the coinbase.
 * @throws MalformedBytesError when the record has more or fewer coins.
 */
export async function outputsOf(record: Buffer, counts: Uint32Array): Promise<Buffer> {
  const reader = new StoredCoinReader(record);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const stored = reader.u32();
  if (stored !== total) throw new MalformedBytesError(`${total} coins`, `${stored}`, 0);
  const bytes = Buffer.allocUnsafeSlow(LONGEST_COMPACT_SIZE * (counts.length + 1) + 2 * record.length);
  let at = writeCompactSize(bytes, counts.length, 0);
  const slice = new Slice();
  for (const count of counts) {
    at = writeCompactSize(bytes, count, at);
    for (let left = count; left > 0; left--) {
      at = reader.writeOutput(bytes, at);
      if (slice.isOverAfterStep()) await setImmediate();
    }
  }
  reader.requireEnd('undo record');
  return bytes.subarray(0, at);
}
