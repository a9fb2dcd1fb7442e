// Undo records from 'r' to 'd': block hash 32, number of transactions (of variable length), for
// each of them the first 6 bytes of its txid, in layout 3 of its txid's hash; the rest stays.

import { del, keyOf, put, recordIn, unreadable, Writer } from '../records';
import type { Hasher } from './hash';
import type { Passes, Share } from '../pass';
import type { Store } from '../../lib/store/store';

const BLOCK_HASH_LENGTH = 32;
const START_LENGTH = 6;

/** So many places are looked for at once. */
const LOOKUPS = 64;

export async function moveUndo(store: Store, hasher: Hasher, passes: Passes, share: Share): Promise<void> {
  const writer = new Writer(store);
  for await (const [key, value] of passes.over('r', share, await passes.partByHeight('r')))
    await writer.add([put(keyOf('d', key.subarray(1)), await movedUndo(store, hasher, key.readUInt32BE(1), recordIn(key, value))), del(key)]);
  await writer.flush();
}

async function movedUndo(store: Store, hasher: Hasher, height: number, old: Buffer): Promise<Buffer> {
  let [count, factor, at] = [0, 1, BLOCK_HASH_LENGTH];
  for (; ((old[at] ?? 0) & 0x80) !== 0; at++, factor *= 0x80) count += ((old[at] ?? 0) & 0x7f) * factor;
  count += (old[at++] ?? 0) * factor;
  if (at + count * START_LENGTH > old.length) throw unreadable('an undo record ends too early');
  const starts: Buffer[] = [];
  for (let first = 0; first < count; first += LOOKUPS) {
    const positions = Array.from({ length: Math.min(LOOKUPS, count - first) }, (_, i) => first + i);
    const txids = await Promise.all(positions.map((position) => {
      const from = at + position * START_LENGTH;
      return txidOf(store, old.subarray(from, from + START_LENGTH), height, position);
    }));
    starts.push(...txids.map((txid) => hasher.hash(txid).subarray(0, START_LENGTH)));
  }
  return Buffer.concat([old.subarray(0, at), ...starts, old.subarray(at + count * START_LENGTH)]);
}

/** The txid at a place. A coinbase that a later one took the place of (BIP30) has that one's. */
async function txidOf(store: Store, start: Buffer, height: number, position: number): Promise<Buffer> {
  const later: Buffer[] = [];
  for await (const [key, value] of store.range({ gte: keyOf('t', start), lt: keyOf('t', start, Buffer.alloc(27, 0xff)) })) {
    const record = recordIn(key, value);
    const [foundHeight, foundPosition] = [record.readUInt32BE(), record.readUInt16BE(4)];
    if (foundHeight === height && foundPosition === position) return key.subarray(1);
    if (position === 0 && foundPosition === 0 && foundHeight > height) later.push(key.subarray(1));
  }
  const [txid, another] = later;
  if (txid === undefined || another !== undefined) throw unreadable(`the transaction ${position} of the block at height ${height} has no place`);
  return txid;
}
