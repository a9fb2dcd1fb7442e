// The coins that a block spends: found in the cache, or read into it from the store, then
// spent in the order of the block.

import { setImmediate } from 'node:timers/promises';
import { keyOf, toDisplayHex } from '../../bitcoin/hash';
import { IndexError } from '../../follow/errors';
import { HEAD_BYTES, HEIGHT, OUTPOINT_WORDS, packPosition, POSITION, STATE, STORED, UNSPENT } from '../records/cache-entry';
import { coinEnd, coinKey, MOST_GROUPS, slotAt } from '../records/coin-record';
import { recordOf } from '../records/layout';
import { decodePosition, positionKey } from '../records/position';
import { NO_ENTRY, type CoinCache, type EntryName, type SpendListeners } from './coin-cache';
import type { StoreSnapshot } from '../../store/store';
import type { TxidHasher } from '../records/txid-hash';
import type { BlockRows } from '../scan/rows';
import type { Position } from '../types';
import type { BaseSpends } from './base-spends';

/** Inputs between two turns of the event loop: about a millisecond. */
const INPUTS_PER_SLICE = 2_000;

/** Groups in one read of the store. Adding them to the cache takes half a millisecond, and a block has enough for several threads. */
const GROUPS_AT_ONCE = 128;

/** Reads at the same time: while the groups of one are added to the cache, the store's threads do the others. */
const READS_UNDER_WAY = 3;

/** Where coins are looked for: in the cache, then in the store. */
export interface CoinSources {
  /** A snapshot of the store, for one block: without it each read waits for a lock of LevelDB. */
  readonly records: StoreSnapshot;
  /** As new as the store, or ahead of it. */
  readonly cache: CoinCache;
  readonly hasher: TxidHasher;
  /** Only in an index with a base. */
  readonly base?: BaseSpends;
}

/** A group of outputs of a transaction that is not in the cache. */
export interface ColdGroup {
  readonly txid: Buffer;
  readonly group: number;
}

/**
 * The cache's entry for each input of a block; NO_ENTRY if its coin is of the base, or does not exist. Coins that are only in the
 * store are read into the cache first.
 */
export async function findSpent({ inputs }: BlockRows, sources: CoinSources): Promise<Int32Array> {
  const { records, cache, base } = sources;
  const entries = new Int32Array(inputs.length / OUTPOINT_WORDS);
  const cold: number[] = [];
  for (let i = 0; i < entries.length; i++) {
    if (i % INPUTS_PER_SLICE === INPUTS_PER_SLICE - 1) await setImmediate();
    const entry = find(cache, inputs, i);
    entries[i] = entry;
    if (entry === NO_ENTRY) cold.push(i);
  }
  const others = base === undefined ? cold : await base.find(inputs, cold, records);
  if (others.length === 0) return entries;
  await readCold(await groupsOf(inputs, others), sources);
  for (const i of others) entries[i] = find(cache, inputs, i);
  return entries;
}

/** The groups that some inputs spend from, each once. */
async function groupsOf(inputs: Int32Array, wanted: readonly number[]): Promise<ColdGroup[]> {
  const groups = new Map<string, ColdGroup>();
  const bytes = Buffer.from(inputs.buffer, inputs.byteOffset, inputs.byteLength);
  for (const [n, i] of wanted.entries()) {
    if (n % INPUTS_PER_SLICE === INPUTS_PER_SLICE - 1) await setImmediate();
    const at = i * OUTPOINT_WORDS * 4;
    const group = groupAt(inputs, i);
    const txid = bytes.subarray(at, at + 32);
    if (group < MOST_GROUPS) groups.set(`${group} ${keyOf(txid)}`, { txid, group });
  }
  return [...groups.values()];
}

function find(cache: CoinCache, inputs: Int32Array, input: number): EntryName {
  return cache.find(inputs, input * OUTPOINT_WORDS, groupAt(inputs, input));
}

/** The index that an input spends is group * 32 + slot (coin-record.ts). */
function groupAt(inputs: Int32Array, input: number): number {
  return (inputs[input * OUTPOINT_WORDS + 8] as number) >>> 5; // nine words each
}

/** Reads groups that the cache lacks from the store into it, as far as the store has them. @throws DamagedIndexError */
export async function readCold(groups: readonly ColdGroup[], sources: CoinSources): Promise<void> {
  let next = 0;
  const readOn = async (): Promise<void> => {
    while (next < groups.length) {
      const from = next;
      next += GROUPS_AT_ONCE;
      await readGroups(groups.slice(from, next), sources);
    }
  };
  // All are awaited: if one fails, no other may add to the cache after this has thrown.
  const reads = await Promise.allSettled(Array.from({ length: READS_UNDER_WAY }, readOn));
  for (const read of reads) if (read.status === 'rejected') throw read.reason;
}

/** @throws DamagedIndexError */
async function readGroups(groups: readonly ColdGroup[], { records, cache, hasher }: CoinSources): Promise<void> {
  const positionKeys = groups.map(({ txid }) => positionKey(hasher.hash(txid)));
  const positions = await records.load(positionKeys);
  const found: { readonly from: ColdGroup; readonly position: Position; readonly key: Buffer }[] = [];
  groups.forEach((from, i) => {
    const value = positions[i];
    if (value === undefined) return;
    const position = decodePosition(positionKeys[i] as Buffer, value); // one key for each value
    found.push({ from, position, key: coinKey(position, from.group) });
  });
  const coins = await records.load(found.map(({ key }) => key));
  found.forEach(({ from, position, key }, i) => {
    const value = coins[i];
    if (value !== undefined) cache.append(storedEntry(from, position, recordOf(key, value)));
  });
}

function storedEntry({ txid, group }: ColdGroup, { height, index }: Position, coins: Buffer): Int32Array {
  const entry = new Int32Array((HEAD_BYTES + coins.length + 3) >> 2);
  const bytes = Buffer.from(entry.buffer);
  txid.copy(bytes);
  coins.copy(bytes, HEAD_BYTES);
  let unspent = 0;
  for (let at = 0; at < coins.length; at = coinEnd(coins, at)) unspent |= 1 << slotAt(coins, at);
  entry[HEIGHT] = height;
  entry[POSITION] = packPosition(index, group);
  entry[UNSPENT] = unspent;
  entry[STATE] = (coins.length << 3) | STORED;
  return entry;
}

/**
 * Spends the coins of a block's inputs.
 * @throws IndexError for a coin that does not exist, or is made only later; the cache must then be cleared.
 */
export async function spend(
  { inputs, inputEnds, height }: BlockRows,
  entries: Int32Array,
  { cache, base }: Pick<CoinSources, 'cache' | 'base'>,
  listeners: SpendListeners
): Promise<void> {
  let input = 0;
  for (let index = 0; index < inputEnds.length; index++) {
    for (const end = inputEnds[index] as number; input < end; input++) {
      if (input % INPUTS_PER_SLICE === INPUTS_PER_SLICE - 1) await setImmediate();
      const entry = entries[input] as number; // one for each
      const slot = (inputs[input * OUTPOINT_WORDS + 8] as number) & 31;
      if (entry === NO_ENTRY && base?.spend(inputs, input) === true) continue;
      if (entry === NO_ENTRY || !cache.spend(entry, slot, height, index, listeners)) throw missingCoin(inputs, input, height);
    }
  }
}

function missingCoin(inputs: Int32Array, input: number, height: number): IndexError {
  const outpoint = Buffer.from(inputs.slice(input * OUTPOINT_WORDS, (input + 1) * OUTPOINT_WORDS).buffer);
  return new IndexError(
    `the block at height ${height} spends ${toDisplayHex(outpoint.subarray(0, 32))}-${outpoint.readUInt32LE(32)}: expected a coin there, got none`
  );
}
