// The writes that take the tip out again.

import { withCoins } from '../records/coin-record';
import { DamagedIndexError } from '../errors';
import { blockHashKey, coinKey, coinsOfBlock, decodePosition, encodePosition, encodeTip, headerKey, lengthsKey, positionsOfHashes, putRecord, recordOf, TIP_KEY, undoKey } from '../records/layout';
import type { BlockPoint } from '../../node/types';
import type { Store, StoreWrite } from '../../store/store';
import { HASH_START_LENGTH, type SpentCoin, type UndoRecord } from '../records/undo-record';

/** Places looked for at once. */
const LOOKUPS = 64;

/** Takes the block at `height` out and makes `previous` the tip. @throws DamagedIndexError */
export async function undoWrites({ hash, hashStarts, replaced, coins }: UndoRecord, height: number, previous: BlockPoint, store: Store): Promise<StoreWrite[]> {
  const writes = await restoringWrites(coins, store);
  for await (const [key] of store.range(coinsOfBlock(height))) writes.push({ type: 'del', key });
  const placeKeys = await findPlaces(hashStarts, height, store);
  for (const key of placeKeys) writes.push({ type: 'del', key });
  const [coinbaseKey] = placeKeys;
  // After the deletions: it is the place of the same txid.
  if (replaced !== undefined && coinbaseKey !== undefined) writes.push(putRecord(coinbaseKey, encodePosition(replaced)));
  for (const key of [headerKey(height), lengthsKey(height), blockHashKey(hash), undoKey(height)]) writes.push({ type: 'del', key });
  writes.push(putRecord(TIP_KEY, encodeTip(previous)));
  return writes;
}

/** The keys of the places of a block's transactions, in its order. @throws DamagedIndexError */
async function findPlaces(hashStarts: Buffer, height: number, store: Store): Promise<Buffer[]> {
  const count = hashStarts.length / HASH_START_LENGTH;
  const keys: Buffer[] = [];
  for (let first = 0; first < count; first += LOOKUPS) {
    const positions = Array.from({ length: Math.min(LOOKUPS, count - first) }, (_, i) => first + i);
    keys.push(...await Promise.all(positions.map((position) => {
      const at = position * HASH_START_LENGTH;
      return findPlace(hashStarts.subarray(at, at + HASH_START_LENGTH), height, position, store);
    })));
  }
  return keys;
}

/** Other hashes may begin alike: the place says which one it is. */
async function findPlace(hashStart: Buffer, height: number, position: number, store: Store): Promise<Buffer> {
  for await (const [key, value] of store.range(positionsOfHashes(hashStart))) {
    const place = decodePosition(key, value);
    if (place.height === height && place.index === position) return key;
  }
  throw new DamagedIndexError(`expected the place of transaction ${position} of the block at height ${height} under a hash that begins with ${hashStart.toString('hex')}, got none`);
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
