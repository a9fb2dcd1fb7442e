// The hash over the coins that a block spends (lib/index/records/spent-hash.ts), computed from a node's undo record.

import { setImmediate } from 'node:timers/promises';
import { COIN_OVERHEAD, writeCoin } from '../../index/records/coin-record';
import { SpentHasher } from '../../index/records/spent-hash';
import { StoredCoinReader } from '../../node/stored-coin';
import { Slice } from '../../turns/slices';

/** `record`: as lib/node/undo-record.ts has it. @throws MalformedBytesError */
export async function hashOfUndo(record: Buffer): Promise<Buffer> {
  const hasher = new SpentHasher();
  const slice = new Slice();
  const reader = new StoredCoinReader(record);
  // A script of the record is at most as long as the record, or that of an uncompressed key.
  const packed = Buffer.allocUnsafe(2 * record.length + COIN_OVERHEAD);
  for (let left = reader.u32(); left > 0; left--) {
    const { height, coinbase, value, script } = reader.coin();
    hasher.add(height, coinbase, packed, 0, writeCoin(packed, 0, 0, value, script, 0, script.length));
    if (slice.isOverAfterStep()) await setImmediate();
  }
  reader.requireEnd('undo record');
  return hasher.take();
}
