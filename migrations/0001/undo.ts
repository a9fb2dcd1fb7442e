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
//   number of transactions (of variable length), the first 6 of each txid
//   replaced 1, and when it is 1: place of the transaction whose txid the coinbase has 6
//   coins to put back, to the end: how many blocks before this one, position * 2 (or + 1, and the
//     group when that is not 0), both of variable length, the coin

import { groupOf, packedCoin } from './coins';
import { del, keyOf, put, recordIn, unreadable, variableInteger, Writer } from '../records';
import { placeBytes, placesOf, type Place } from './place';
import type { Passes, Share } from '../pass';
import type { Store } from '../../lib/store/store';

export async function moveUndo(store: Store, passes: Passes, share: Share): Promise<void> {
  const writer = new Writer(store);
  for await (const [key, value] of passes.over('u', share, await passes.partByHeight('u')))
    await writer.add([put(keyOf('r', key.subarray(1)), await movedUndo(store, key.readUInt32BE(1), recordIn(key, value))), del(key)]);
  await writer.flush();
}

async function movedUndo(store: Store, height: number, old: Buffer): Promise<Buffer> {
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
  const places = await placesOfCoins(store, coins);
  return Buffer.concat([
    hash, variableInteger(txids.length), ...txids.map((txid) => txid.subarray(0, 6)),
    // Only a coinbase is replaced, and by one: it is the first of its block.
    ...replaced === undefined ? [Buffer.from([0])] : [Buffer.from([1]), placeBytes({ height: replaced.readUInt32BE(), position: 0 })],
    ...coins.flatMap(({ index, coin }, i) => [relativePlace(places[i] as Place, groupOf(index), height), packedCoin(index, coin)]) // one for each
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

function relativePlace(place: Place, group: number, height: number): Buffer {
  const numbers = [height - place.height, place.position * 2 + (group === 0 ? 0 : 1), ...group === 0 ? [] : [group]];
  return Buffer.concat(numbers.map(variableInteger));
}
