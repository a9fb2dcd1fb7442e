// Undo records from 'u' to 'r'. In layout 1:
//
//   block hash 32
//   transactions 4, each: txid 32, number of outputs 4
//   coins to put back 4, each: txid 32, index 4, length 4, coin
//   locations to put back 4, each: txid 32, length 4, location
//
// in layout 2:
//
//   block hash 32
//   transactions 4, their txids 32 each
//   replaced 1, and when it is 1: place of the transaction whose txid the coinbase has 6
//   coins to put back, to the end: place 6, group 2, the coin

import { groupOf, packedCoin } from './coins';
import { del, keyOf, placeBytes, placesOf, put, recordIn, u16, u32, unreadable, Writer, type Place } from './records';
import type { Passes, Share } from './pass';
import type { Store } from '../../lib/store/store';

export async function moveUndo(store: Store, passes: Passes, share: Share): Promise<void> {
  const writer = new Writer(store);
  for await (const [key, value] of passes.over('u', share, await passes.partByHeight('u')))
    await writer.add([put(keyOf('r', key.subarray(1)), await movedUndo(store, recordIn(key, value))), del(key)]);
  await writer.flush();
}

async function movedUndo(store: Store, old: Buffer): Promise<Buffer> {
  let at = 0;
  const take = (length: number): Buffer => {
    if (length > old.length - at) throw unreadable('an undo record ends too early');
    return old.subarray(at, at += length);
  };
  const integer = (): number => take(4).readUInt32BE();
  const list = <T>(one: () => T): T[] => Array.from({ length: integer() }, one);
  const hash = take(32);
  const txids = list(() => { const txid = take(32); take(4); return txid; });
  const all = list(() => ({ txid: take(32), index: integer(), coin: take(integer()) }));
  const isReplaced = ({ txid }: { txid: Buffer }): boolean => txids[0]?.equals(txid) === true;
  // What the coinbase replaced comes first now.
  const coins = [...all.filter(isReplaced), ...all.filter((coin) => !isReplaced(coin))];
  const [replaced] = list(() => { take(32); return take(integer()); });
  const height = replaced?.readUInt32BE();
  const places = await placesOfCoins(store, coins);
  return Buffer.concat([
    hash, u32(txids.length), ...txids,
    // Only a coinbase is replaced, and by one: it is the first of its block.
    ...height === undefined ? [Buffer.from([0])] : [Buffer.from([1]), placeBytes({ height, position: 0 })],
    ...coins.flatMap(({ index, coin }, i) => [placeBytes(places[i] as Place), u16(groupOf(index)), packedCoin(index, coin)]) // one for each
  ]);
}

/** A coinbase is at the start of the block that its coin names, also when a later one has its txid by now. */
async function placesOfCoins(store: Store, coins: readonly { readonly txid: Buffer; readonly coin: Buffer }[]): Promise<Place[]> {
  const others = new Map<string, Buffer>();
  for (const { txid, coin } of coins) if ((coin.readUInt32BE() & 1) === 0) others.set(txid.toString('latin1'), txid);
  const places = await placesOf(store, [...others.values()]);
  const byTxid = new Map([...others.keys()].map((name, i) => [name, places[i]]));
  return coins.map(({ txid, coin }) => byTxid.get(txid.toString('latin1')) ?? { height: coin.readUInt32BE() >>> 1, position: 0 });
}
