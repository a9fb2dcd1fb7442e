// Coins that were made or read lately. New coins stay at least until they are written, and many are
// spent before that; written coins stay for a while, so that spending them needs no read. There are
// two generations: new entries go into the young one; when it is full and written, the old one is
// emptied and becomes the young one.
//
// Where cache and store differ, the cache is right: its changes are not written yet. An entry is
// named by a number that is valid until the generations swap (`written`): positive in the young
// generation, negative in the old one.

import {
  CHANGED,
  coinBytes,
  entryWords,
  groupOf,
  HEAD_BYTES,
  HEIGHT,
  indexOf,
  POSITION,
  STATE,
  STORED,
  UNSPENT
} from '../records/cache-entry';
import { COIN_KEY_LENGTH, coinEnd, GROUP_SIZE, readOutput, slotAt, writeCoinKey } from '../records/coin-record';
import { WriteBuffer } from '../records/layout';
import { RecordReader } from '../records/numbers';
import { Generation } from './generation';
import type { StoreWrite } from '../../store/store';
import type { SpentHasher } from '../records/spent-hash';
import type { SpentCoinList } from '../records/undo-record';
import type { Position, Coin } from '../types';

export type EntryName = number;
export const NO_ENTRY: EntryName = 0;

/** Who gets the coins that a block spends, in the order of its inputs. */
export interface SpendListeners {
  /** Those of earlier blocks. */
  readonly undo: SpentCoinList | undefined;
  /** All. */
  readonly hasher: SpentHasher | undefined;
}

/** Bytes that may wait to be written: at most MOST_UNWRITTEN, and at most the cache's size divided by PARTS_UNWRITTEN. */
const MOST_UNWRITTEN = 16 * 1_024 * 1_024;
const PARTS_UNWRITTEN = 16;
/**
 * Memory that a write takes in the engine, as a multiple of its bytes: the batch, which grows by doubling, and its records
 * before they are a table.
 */
const COPIES = 7;

export class CoinCache {
  /** How often readers found what they looked for, and how often they did not. */
  hits = 0;
  misses = 0;
  #bytes: number;
  #halfBytes = 0;
  #mostUnwritten = 0;
  readonly #buffer = new WriteBuffer();
  #young: Generation;
  #old: Generation;
  /** Entries of the young generation from this one on have not been written yet. */
  #writtenTo = 1;
  /** Whether the generations swap once the writes handed over are in the store. */
  #swaps = false;
  /** Entries that were written and have changed since. */
  #changed: EntryName[] = [];
  /** A txid that is looked for. */
  readonly #txid = new Int32Array(8);
  /** The memory of `#txid` as bytes. */
  readonly #txidBytes = Buffer.from(this.#txid.buffer);

  /**
   * `bytes`: limit for both generations, their hash tables and the engine's copies together. Since a batch is full only once a
   * block has passed its limit, the cache may exceed this by a block.
   */
  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#divide();
    this.#young = new Generation(this.#halfBytes >>> 2);
    this.#old = new Generation(this.#halfBytes >>> 2);
  }

  /**
   * Changes the size of the cache. A generation gives memory back when it is emptied: the old one at once, unless writes are
   * pending.
   */
  resize(bytes: number): void {
    if (bytes === this.#bytes) return;
    const isLess = bytes < this.#bytes;
    this.#bytes = bytes;
    this.#divide();
    for (const generation of [this.#young, this.#old]) generation.resize(this.#halfBytes >>> 2);
    if (isLess && this.isClean) this.#old.clear();
  }

  /** Bytes in use. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Whether every change is written. */
  get isClean(): boolean {
    return this.#writtenTo === this.#young.used && this.#changed.length === 0;
  }

  /** Whether it is time to write. `otherBytes`: bytes beside the cache's that wait for the same write. */
  isFull(otherBytes: number): boolean {
    return (this.#young.used - this.#writtenTo) * 4 + otherBytes >= this.#mostUnwritten;
  }

  /** The entry of a group of outputs. `from` has the txid as eight words from `at` on. */
  find(from: Int32Array, at: number, group: number): EntryName {
    return this.#young.find(from, at, group) || -this.#old.find(from, at, group);
  }

  /** Adds copies of entries, which are concatenated in `entries`. */
  append(entries: Int32Array): void {
    this.#young.append(entries);
  }

  /** The position of a transaction; undefined: the cache has no entry of its first outputs. `txid`: 32 bytes in wire order. */
  position(txid: Uint8Array): Position | undefined {
    const entry = this.#entryOf(txid, 0);
    if (entry === NO_ENTRY) {
      this.misses++;
      return undefined;
    }
    this.hits++;
    const { words } = entry > 0 ? this.#young : this.#old;
    const at = Math.abs(entry);
    return { height: words[at + HEIGHT] as number, index: indexOf(words[at + POSITION] as number) }; // entries are whole
  }

  /** The coin of an outpoint, as a copy; undefined: it was spent, or never existed. `stored`: called if the cache has no such entry. */
  coin(txid: Buffer, index: number, stored: () => Coin | undefined): Coin | undefined {
    const entry = this.#entryOf(txid, Math.floor(index / GROUP_SIZE));
    if (entry === NO_ENTRY) {
      this.misses++;
      return stored();
    }
    this.hits++;
    return this.#coinOf(entry, index % GROUP_SIZE);
  }

  /**
   * Spends an output in the transaction `index` of the block at `height`.
   * False: there is no such coin, or it is not made before this transaction.
   */
  spend(entry: EntryName, slot: number, height: number, index: number, { undo, hasher }: SpendListeners): boolean {
    const { words, bytes } = entry > 0 ? this.#young : this.#old;
    const at = Math.abs(entry);
    const unspent = words[at + UNSPENT] as number; // entries are whole
    const made = words[at + HEIGHT] as number;
    const position = words[at + POSITION] as number;
    if ((unspent & (1 << slot)) === 0 || (made === height && indexOf(position) >= index)) return false;
    if (hasher !== undefined || (undo !== undefined && made !== height)) {
      const from = startOfCoin(bytes, at, slot);
      const end = coinEnd(bytes, from);
      if (made !== height) undo?.add(height - made, indexOf(position), groupOf(position), bytes, from, end);
      hasher?.add(made, indexOf(position) === 0, bytes, from, end);
    }
    words[at + UNSPENT] = unspent & ~(1 << slot);
    const state = words[at + STATE] as number;
    if ((state & CHANGED) !== 0) return true;
    words[at + STATE] = state | CHANGED;
    if (entry < this.#writtenTo) this.#changed.push(entry);
    return true;
  }

  /**
   * The writes that bring the store to the state of the cache; each is valid until the next. Must be iterated over once; then
   * `handedOver` or `clear` must be called.
   */
  *writes(): Generator<StoreWrite> {
    // Nearly in the order of the chain, which is the order of the keys: the store takes neighbouring keys faster.
    for (const entry of Int32Array.from(this.#changed).sort()) {
      const write = this.#writeOf(entry);
      if (write !== undefined) yield write;
    }
    for (let entry = this.#writtenTo; entry < this.#young.used; entry += entryWords(this.#young.words[entry + STATE] as number)) {
      const write = this.#writeOf(entry);
      if (write !== undefined) yield write;
    }
  }

  /** To be called when the store has copies of the writes. False: the cache must not change until `written` is called. */
  handedOver(): boolean {
    this.#changed = [];
    this.#writtenTo = this.#young.used;
    // They swap if the young generation has no space for another batch.
    this.#swaps = this.#young.size + this.#mostUnwritten > this.#halfBytes;
    return !this.#swaps;
  }

  /** To be called when the writes handed over are in the store, so that the old generation may be dropped. */
  written(): void {
    if (!this.#swaps) return;
    this.#swaps = false;
    [this.#young, this.#old] = [this.#old, this.#young];
    this.#young.clear();
    this.#writtenTo = 1;
  }

  clear(): void {
    this.#young = new Generation(this.#halfBytes >>> 2);
    this.#old = new Generation(this.#halfBytes >>> 2);
    this.#changed = [];
    this.#writtenTo = 1;
    this.#swaps = false;
  }

  #divide(): void {
    this.#mostUnwritten = Math.min(this.#bytes / PARTS_UNWRITTEN, MOST_UNWRITTEN);
    this.#halfBytes = (this.#bytes - this.#mostUnwritten * COPIES) / 2;
  }

  #entryOf(txid: Uint8Array, group: number): EntryName {
    this.#txidBytes.set(txid);
    return this.find(this.#txid, 0, group);
  }

  /** The coin of an output of an entry's group. */
  #coinOf(entry: EntryName, slot: number): Coin | undefined {
    const { words, bytes } = entry > 0 ? this.#young : this.#old;
    const at = Math.abs(entry);
    if (((words[at + UNSPENT] as number) & (1 << slot)) === 0) return undefined; // entries are whole
    const reader = new RecordReader(bytes);
    reader.skip(startOfCoin(bytes, at, slot));
    const { value, script } = readOutput(reader);
    const coinbase = indexOf(words[at + POSITION] as number) === 0;
    return { height: words[at + HEIGHT] as number, coinbase, value, script: script.buffer === bytes.buffer ? Buffer.from(script) : script };
  }

  /** undefined: there is nothing to write, since the coins were spent before the store had them. */
  #writeOf(entry: EntryName): StoreWrite | undefined {
    const { words, bytes } = entry > 0 ? this.#young : this.#old;
    const at = Math.abs(entry);
    const unspent = words[at + UNSPENT] as number; // entries are whole
    const state = words[at + STATE] as number;
    words[at + STATE] = (state & ~(STORED | CHANGED)) | (unspent === 0 ? 0 : STORED);
    if (unspent === 0 && (state & STORED) === 0) return undefined;
    const position = words[at + POSITION] as number;
    const write = this.#buffer.reserve(COIN_KEY_LENGTH + coinBytes(state));
    const keyLength = writeCoinKey(write, words[at + HEIGHT] as number, indexOf(position), groupOf(position));
    if (unspent === 0) return this.#buffer.del(keyLength);
    let end = keyLength;
    let coin = at * 4 + HEAD_BYTES;
    let start = coin; // of the unspent coins that are not copied yet
    const to = coin + coinBytes(state);
    for (let next = coin; coin < to; coin = next) {
      next = coinEnd(bytes, coin);
      if ((unspent & (1 << slotAt(bytes, coin))) !== 0) continue;
      end += bytes.copy(write, end, start, coin);
      start = next;
    }
    end += bytes.copy(write, end, start, to);
    return this.#buffer.put(keyLength, end - keyLength);
  }
}

/** Where the coin of a slot begins in an entry that has it. */
function startOfCoin(bytes: Buffer, entry: number, slot: number): number {
  let at = entry * 4 + HEAD_BYTES;
  while (slotAt(bytes, at) !== slot) at = coinEnd(bytes, at); // the entry has this slot
  return at;
}
