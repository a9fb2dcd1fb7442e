// BIP30: until 2012 a coinbase could have the txid of an earlier one (blocks 91722 and 91880,
// 91812 and 91842 of the main network). The later transaction takes the earlier one's place
// under the txid, and its coins replace what is left of the earlier one's.

import { entryWords, groupOf, HEIGHT, PLACE, positionOf, STATE } from '../records/cache-entry';
import { NO_ENTRY, type CoinCache, type EntryName } from '../coins/coin-cache';
import { GROUP_SIZE } from '../records/coin-record';
import { decodePosition, positionKey, type Position } from '../records/layout';
import { readCold, type CoinSources, type ColdGroup } from '../coins/spending';
import type { BlockRows } from '../scan/rows';
import type { SpentCoinList } from '../records/undo-record';

export interface Replaced {
  readonly place: Position;
  /** What the cache has of its coins. */
  readonly entries: readonly EntryName[];
}

/**
 * The earlier transaction with the txid of the block's coinbase, its coins read into the cache.
 * To be called before the block's own coins are there. @throws DamagedIndexError
 */
export async function findReplaced(rows: BlockRows, sources: CoinSources): Promise<Replaced | undefined> {
  const { cache } = sources;
  const place = placeBefore(rows, sources);
  if (place === undefined) return undefined;
  const groups = coinbaseGroups(rows);
  const find = ({ txid, group }: ColdGroup): EntryName => cache.find(wordsOf(txid), 0, group);
  await readCold(groups.filter((group) => find(group) === NO_ENTRY), sources);
  return { place, entries: groups.map(find).filter((entry) => entry !== NO_ENTRY) };
}

/** Takes the earlier transaction's coins out; the later one's are in the cache by now, under the same txid. */
export function spendReplaced({ entries }: Replaced, height: number, cache: CoinCache, undo: SpentCoinList | undefined): void {
  for (const entry of entries)
    for (let slot = 0; slot < GROUP_SIZE; slot++) cache.spend(entry, slot, height, 0, undo);
}

function placeBefore({ coinbase }: BlockRows, { records, cache, hasher }: CoinSources): Position | undefined {
  const txid = Buffer.from(coinbase);
  // Every coinbase has an entry of group 0, whatever became of its coins, until it is written.
  const entry = cache.find(wordsOf(txid), 0, 0);
  if (entry !== NO_ENTRY) return cache.placeOf(entry);
  const key = positionKey(hasher.hash(txid));
  const value = records.get(key);
  return value && decodePosition(key, value);
}

/** The groups of the coinbase; the earlier one had the same outputs. */
function coinbaseGroups({ entries, coinbase, height }: BlockRows): ColdGroup[] {
  const txid = Buffer.from(coinbase);
  const groups: ColdGroup[] = [];
  for (let at = 0; at < entries.length && entries[at + HEIGHT] === height && positionOf(entries[at + PLACE] as number) === 0; at += entryWords(entries[at + STATE] as number))
    groups.push({ txid, group: groupOf(entries[at + PLACE] as number) }); // entries are whole
  return groups;
}

function wordsOf(txid: Buffer): Int32Array {
  const words = new Int32Array(8);
  txid.copy(Buffer.from(words.buffer));
  return words;
}
