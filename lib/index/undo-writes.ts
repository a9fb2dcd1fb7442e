// The writes that take the tip out again.

import { withCoins } from './coin-record';
import { blockHashKey, coinKey, coinsOfBlock, encodePlace, encodeTip, headerKey, lengthsKey, placeKey, putRecord, recordOf, TIP_KEY, undoKey } from './layout';
import type { BlockPoint } from '../node/types';
import type { Store, StoreWrite } from '../store/store';
import type { SpentCoin, UndoRecord } from './undo-record';

/** Takes the block at `height` out and makes `previous` the tip. @throws DamagedIndexError */
export async function undoWrites({ hash, txids, replaced, coins }: UndoRecord, height: number, previous: BlockPoint, store: Store): Promise<StoreWrite[]> {
  const writes = await restoringWrites(coins, store);
  for await (const [key] of store.range(coinsOfBlock(height))) writes.push({ type: 'del', key });
  for (let at = 0; at < txids.length; at += 32) writes.push({ type: 'del', key: placeKey(txids.subarray(at, at + 32)) });
  // After the deletions: it is the place of the same txid.
  if (replaced !== undefined) writes.push(putRecord(placeKey(txids.subarray(0, 32)), encodePlace(replaced)));
  for (const key of [headerKey(height), lengthsKey(height), blockHashKey(hash), undoKey(height)]) writes.push({ type: 'del', key });
  writes.push(putRecord(TIP_KEY, encodeTip(previous)));
  return writes;
}

/** Puts coins back into their records. */
async function restoringWrites(coins: readonly SpentCoin[], store: Store): Promise<StoreWrite[]> {
  const byKey = new Map<string, { readonly key: Buffer; readonly coins: Buffer[] }>();
  for (const { place, group, coin } of coins) {
    const key = coinKey(place, group);
    const name = key.toString('latin1');
    const record = byKey.get(name);
    if (record === undefined) byKey.set(name, { key, coins: [coin] });
    else record.coins.push(coin);
  }
  const records = [...byKey.values()];
  const values = await store.load(records.map(({ key }) => key));
  return records.map(({ key, coins: restored }, i) => {
    const value = values[i];
    return putRecord(key, withCoins(value && recordOf(key, value), restored));
  });
}
