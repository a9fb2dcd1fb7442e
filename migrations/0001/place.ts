// Where a transaction stands in the chain, as layout 2 has it: height 4, position in its block 2.

import { keyOf, recordIn, u16, u32, unreadable } from '../records';
import type { Store } from '../../lib/store/store';

export interface Place {
  readonly height: number;
  readonly position: number;
}

export function placeBytes({ height, position }: Place): Buffer {
  return Buffer.concat([u32(height), u16(position)]);
}

/** The places that transactions have by now, in their order. */
export async function placesOf(store: Store, txids: readonly Buffer[]): Promise<Place[]> {
  const keys = txids.map((txid) => keyOf('t', txid));
  const values = await store.load(keys);
  return keys.map((key, i) => {
    const value = values[i];
    if (value === undefined) throw unreadable(`the transaction ${Buffer.from(key.subarray(1)).reverse().toString('hex')} is in no block`);
    const record = recordIn(key, value);
    return { height: record.readUInt32BE(), position: record.readUInt16BE(4) };
  });
}
