// Coins of the base from 'c' to 'n', and what blocks spent of them from 's' to 'e': in such a
// record one behind the other, each txid 32 (in layout 3 its hash 12), index 4, then as under 'c':
//
//   height * 2 + coinbase 4
//   kind of script * 32 + index % 32   1
//   amount      four bits of zeros and three of the rest, then more, seven bits each
//   script      20 bytes for kinds 0 to 2, 32 for 3 to 6; for kind 7 all of it behind its length

import { partByTxid, type Passes, type Share } from '../pass';
import { del, keyOf, put, recordIn, unreadable, Writer } from '../records';
import type { Hasher } from './hash';
import type { Store } from '../../lib/store/store';

const TXID_LENGTH = 32;
const FIELDS_LENGTH = 4 + 4;
const WHOLE_SCRIPT = 7;

export async function moveBaseCoins(store: Store, hasher: Hasher, passes: Passes, share: Share): Promise<void> {
  const writer = new Writer(store);
  for await (const [key, value] of passes.over('c', share, partByTxid)) {
    const hash = hasher.hash(key.subarray(1, 1 + TXID_LENGTH));
    await writer.add([put(keyOf('n', hash, key.subarray(1 + TXID_LENGTH)), recordIn(key, value)), del(key)]);
  }
  await writer.flush();
}

export async function moveSpentBaseCoins(store: Store, hasher: Hasher, passes: Passes, share: Share): Promise<void> {
  const writer = new Writer(store);
  for await (const [key, value] of passes.over('s', share, await passes.partByHeight('s')))
    await writer.add([put(keyOf('e', key.subarray(1)), withHashes(recordIn(key, value), hasher)), del(key)]);
  await writer.flush();
}

function withHashes(old: Buffer, hasher: Hasher): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < old.length;) {
    const end = coinEnd(old, at + TXID_LENGTH + FIELDS_LENGTH);
    if (end > old.length) throw unreadable('a record of spent coins ends too early');
    parts.push(hasher.hash(old.subarray(at, at + TXID_LENGTH)), old.subarray(at + TXID_LENGTH, end));
    at = end;
  }
  return Buffer.concat(parts);
}

/** Where the coin at `start` ends; beyond the bytes when they do not hold it. */
function coinEnd(bytes: Buffer, start: number): number {
  const kind = (bytes[start] ?? 0) >>> 5;
  let at = start + 1;
  const integer = (): number => {
    let [value, factor] = [0, 1];
    for (; ((bytes[at] ?? 0) & 0x80) !== 0; at++, factor *= 0x80) value += ((bytes[at] ?? 0) & 0x7f) * factor;
    return value + (bytes[at++] ?? 0) * factor;
  };
  integer(); // the amount
  if (kind === WHOLE_SCRIPT) {
    const length = integer();
    return at + length;
  }
  return at + (kind < 3 ? 20 : 32);
}
