// BIP30: until 2012 a coinbase could have the txid of an earlier one (blocks 91722 and 91880,
// 91812 and 91842 of the main network). The later transaction's position replaces the earlier
// one's under the txid, and its coins replace the remaining coins of the earlier one.

import { NO_ENTRY, type CoinCache, type EntryName } from '../coins/coin-cache';
import { readCold, type CoinSources } from '../coins/spending';
import { entryWords, groupOf, indexOf, POSITION, STATE } from '../records/cache-entry';
import { GROUP_SIZE } from '../records/coin-record';
import { positionOf } from '../records/position';
import type { SpentCoinList } from '../records/undo-record';
import type { BlockRows } from '../scan/rows';
import type { Position } from '../types';

export interface Replaced {
  readonly position: Position;
  /** The cache's entries of its coins. */
  readonly entries: readonly EntryName[];
}

/**
 * The earlier transaction with the txid of the block's coinbase, with its coins read into the cache.
 * To be called before the block's own coins are added to the cache. @throws DamagedIndexError
 */
export async function findReplaced({ entries, coinbase }: BlockRows, sources: CoinSources): Promise<Replaced | undefined> {
  const { records, cache, hasher } = sources;
  // Until it is written, every coinbase has an entry of group 0, even if its coins are spent. The first words of `entries` are the txid.
  const position = cache.position(coinbase) ?? positionOf(records, hasher, coinbase);
  if (position === undefined) return undefined;
  // The txids are the same, and so are the outputs.
  const groups: number[] = [];
  for (let at = 0; at < entries.length; at += entryWords(entries[at + STATE] as number)) {
    // entries are whole
    const word = entries[at + POSITION] as number;
    if (indexOf(word) !== 0) break;
    groups.push(groupOf(word));
  }
  const cold = groups.filter((group) => cache.find(entries, 0, group) === NO_ENTRY);
  await readCold(
    cold.map((group) => ({ txid: Buffer.from(coinbase), group })),
    sources
  );
  return { position, entries: groups.map((group) => cache.find(entries, 0, group)).filter((each) => each !== NO_ENTRY) };
}

/** Spends the remaining coins of the earlier transaction. Those of the later one are already in the cache, under the same txid. */
export function spendReplaced({ entries }: Replaced, height: number, cache: CoinCache, undo: SpentCoinList | undefined): void {
  for (const entry of entries)
    for (let slot = 0; slot < GROUP_SIZE; slot++) cache.spend(entry, slot, height, 0, { undo, hasher: undefined });
}
