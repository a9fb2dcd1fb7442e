// The writes that undo the tip.

import { DamagedIndexError } from '../../follow/errors';
import { undoFilterWrites } from '../records/filter';
import { putBase, type Base } from '../records/base';
import { restoringBaseWrites, spentBaseKey } from '../records/base-coin';
import { coinKey, coinsOfBlock, withCoins } from '../records/coin-record';
import { blockHashKey, headerKey, putTip } from '../records/chain';
import { putRecord, recordOf } from '../records/layout';
import { lengthsKeys } from '../records/lengths';
import { decodePosition, encodePosition, positionsOfHashes } from '../records/position';
import { HASH_START_LENGTH, undoKey, type SpentCoin, type UndoRecord } from '../records/undo-record';
import type { BlockPoint } from '../../node/types/chain';
import type { Store, StoreWrite } from '../../store/store';

/** Positions looked for at once. */
const LOOKUPS = 64;

/** The writes that undo the block at `height` and make `previous` the tip. @throws DamagedIndexError */
export async function undoWrites(undo: UndoRecord, height: number, previous: BlockPoint, store: Store): Promise<StoreWrite[]> {
  const { hash, hashStarts, replaced, coins } = undo;
  const writes = await restoringWrites(coins, store);
  for await (const [key] of store.range(coinsOfBlock(height))) writes.push({ type: 'del', key });
  const keys = await findPositions(hashStarts, height, store);
  for (const key of keys) writes.push({ type: 'del', key });
  const [coinbaseKey] = keys;
  // After the deletion of the same key, so that this write counts.
  if (replaced !== undefined && coinbaseKey !== undefined) writes.push(putRecord(coinbaseKey, encodePosition(replaced)));
  for (const key of [headerKey(height), ...lengthsKeys(height, keys.length), blockHashKey(hash), undoKey(height)])
    writes.push({ type: 'del', key });
  writes.push(...undoFilterWrites(store, { hash, height }, previous), putTip(previous));
  return writes;
}

/**
 * The further writes for an index with a base, and the base afterwards. Coins of the base that the block spent are put back. If
 * the block itself is part of the base, it is not known which coins it made: the base becomes the block below, and coins above
 * it are ignored (base-coin.ts). @throws DamagedIndexError
 */
export function undoBaseWrites(
  base: Base,
  height: number,
  previous: BlockPoint,
  store: Store
): readonly [writes: readonly StoreWrite[], base: Base] {
  const key = spentBaseKey(height);
  const spent = store.get(key);
  const writes: StoreWrite[] = spent === undefined ? [] : [...restoringBaseWrites(key, spent), { type: 'del', key }];
  if (height > base.height) return [writes, base];
  const lower = { ...base, ...previous };
  return [[...writes, putBase(lower)], lower];
}

/** The keys of the positions of a block's transactions, in its order. @throws DamagedIndexError */
async function findPositions(hashStarts: Buffer, height: number, store: Store): Promise<Buffer[]> {
  const count = hashStarts.length / HASH_START_LENGTH;
  const keys: Buffer[] = [];
  for (let first = 0; first < count; first += LOOKUPS) {
    const indexes = Array.from({ length: Math.min(LOOKUPS, count - first) }, (_, i) => first + i);
    keys.push(
      ...(await Promise.all(
        indexes.map((index) => {
          const at = index * HASH_START_LENGTH;
          return findPosition(hashStarts.subarray(at, at + HASH_START_LENGTH), height, index, store);
        })
      ))
    );
  }
  return keys;
}

/** Hashes of several txids may begin with the same bytes: the position tells which one is meant. */
async function findPosition(hashStart: Buffer, height: number, index: number, store: Store): Promise<Buffer> {
  for await (const [key, value] of store.range(positionsOfHashes(hashStart))) {
    const found = decodePosition(key, value);
    if (found.height === height && found.index === index) return key;
  }
  const start = hashStart.toString('hex');
  throw new DamagedIndexError(
    `expected the position of transaction ${index} of the block at height ${height} under a hash that begins with ${start}, got none`
  );
}

/** The writes that put coins back into their records. */
async function restoringWrites(coins: readonly SpentCoin[], store: Store): Promise<StoreWrite[]> {
  const byKey = new Map<string, { readonly key: Buffer; readonly coins: Buffer[] }>();
  for (const { position, group, coin } of coins) {
    const key = coinKey(position, group);
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
