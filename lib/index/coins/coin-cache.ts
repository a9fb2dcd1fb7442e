// Coins on their way into the index, and those that were there lately. New ones stay until
// they are written, and most are spent before; written ones stay for a while, so that
// spending them needs no read. Two generations: what is new goes into the young one; when
// that is full and written, the old one is emptied and becomes the young one.
//
// What is in the cache counts, not what the store has. An entry is named by a number that
// holds until the generations swap (`written`): above 0 in the young generation, below in the old one.

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
import { COIN_KEY_LENGTH, coinEnd, readOutput, writeCoinKey } from '../records/coin-record';
import { CHECKSUM_LENGTH } from '../records/layout';
import { RecordReader } from '../records/variable-integer';
import { WriteBuffer } from '../records/write-buffer';
import { Generation } from './generation';
import type { Position } from '../records/position';
import type { SpentCoinList } from '../records/undo-record';
import type { StoreWrite } from '../../store/store';
import type { Coin } from '../types';

export type EntryName = number;
export const NO_ENTRY: EntryName = 0;

const MOST_UNWRITTEN = 16 * 1024 * 1024;
/** A batch is at most so small a share of the cache. */
const BATCHES = 16;
/** Of what is written at once the engine has so many: the batch, whose memory grows by doubling, and its new records before they are a table. */
const COPIES = 7;

export class CoinCache {
  #bytes: number;
  #halfBytes = 0;
  #mostUnwritten = 0;
  readonly #buffer = new WriteBuffer();
  #young: Generation;
  #old: Generation;
  /** Entries of the young generation from here on were not written yet. */
  #writtenTo = 1;
  /** The generations swap when what was handed over is written. */
  #swaps = false;
  /** Entries written before that have changed since. */
  #changed: EntryName[] = [];
  /** A txid that is looked for. */
  readonly #txid = new Int32Array(8);
  /** The same memory. */
  readonly #txidBytes = Buffer.from(this.#txid.buffer);

  /**
   * `bytes`: what both generations with their tables and the engine's copies take at most; a block more may come together
   * before a batch is full.
   */
  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#divide();
    this.#young = new Generation(this.#halfBytes >>> 2);
    this.#old = new Generation(this.#halfBytes >>> 2);
  }

  /**
   * From now on the cache takes so many bytes. A generation gives memory back when it is emptied: the old one at once,
   * unless something waits to be written.
   */
  resize(bytes: number): void {
    if (bytes === this.#bytes) return;
    const isLess = bytes < this.#bytes;
    this.#bytes = bytes;
    this.#divide();
    for (const generation of [this.#young, this.#old]) generation.resize(this.#halfBytes >>> 2);
    if (isLess && this.isClean) this.#old.clear();
  }

  /** Bytes that it holds. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get isClean(): boolean {
    return this.#writtenTo === this.#young.used && this.#changed.length === 0;
  }

  /** Whether it is time to write, with so many bytes that wait elsewhere. */
  isFull(otherBytes: number): boolean {
    return (this.#young.used - this.#writtenTo) * 4 + otherBytes >= this.#mostUnwritten;
  }

  find(from: Int32Array, at: number, group: number): EntryName {
    return this.#young.find(from, at, group) || -this.#old.find(from, at, group);
  }

  /** The entry of a group of outputs. `txid`: 32 bytes in wire order. */
  entryOf(txid: Buffer, group: number): EntryName {
    this.#txidBytes.set(txid);
    return this.find(this.#txid, 0, group);
  }

  append(entries: Int32Array): void {
    this.#young.append(entries);
  }

  /** Where the transaction of an entry stands. */
  positionOf(entry: EntryName): Position {
    const { words } = entry > 0 ? this.#young : this.#old;
    const at = Math.abs(entry);
    return { height: words[at + HEIGHT] as number, index: indexOf(words[at + POSITION] as number) }; // entries are whole
  }

  /** The coin of an output of an entry's group, in memory of its own; undefined: it was spent, or never was. */
  coinOf(entry: EntryName, slot: number): Coin | undefined {
    const { words, bytes } = entry > 0 ? this.#young : this.#old;
    const at = Math.abs(entry);
    if (((words[at + UNSPENT] as number) & (1 << slot)) === 0) return undefined; // entries are whole
    const reader = new RecordReader(bytes);
    reader.skip(startOfCoin(bytes, at, slot));
    const { value, script } = readOutput(reader);
    const coinbase = indexOf(words[at + POSITION] as number) === 0;
    return { height: words[at + HEIGHT] as number, coinbase, value, script: script.buffer === bytes.buffer ? Buffer.from(script) : script };
  }

  /**
   * Spends an output for the transaction at a position; `undo` gets coins of earlier blocks.
   * False when there is no such coin, or not yet.
   */
  spend(entry: EntryName, slot: number, height: number, index: number, undo: SpentCoinList | undefined): boolean {
    const { words, bytes } = entry > 0 ? this.#young : this.#old;
    const at = Math.abs(entry);
    const unspent = words[at + UNSPENT] as number; // entries are whole
    const made = words[at + HEIGHT] as number;
    const position = words[at + POSITION] as number;
    if ((unspent & (1 << slot)) === 0 || (made === height && indexOf(position) >= index)) return false;
    if (undo !== undefined && made !== height) {
      const from = startOfCoin(bytes, at, slot);
      undo.add(height - made, indexOf(position), groupOf(position), bytes, from, coinEnd(bytes, from));
    }
    words[at + UNSPENT] = unspent & ~(1 << slot);
    const state = words[at + STATE] as number;
    if ((state & CHANGED) !== 0) return true;
    words[at + STATE] = state | CHANGED;
    if (entry < this.#writtenTo) this.#changed.push(entry);
    return true;
  }

  /** What brings the store to the state of the cache. To be gone through once, then `handedOver` or `clear`. Each write holds until the next. */
  *writes(): Generator<StoreWrite> {
    // In the order of the chain, nearly, and so of the keys: the store takes neighbours faster.
    for (const entry of Int32Array.from(this.#changed).sort()) {
      const write = this.#writeOf(entry);
      if (write !== undefined) yield write;
    }
    for (let entry = this.#writtenTo; entry < this.#young.used; entry += entryWords(this.#young.words[entry + STATE] as number)) {
      const write = this.#writeOf(entry);
      if (write !== undefined) yield write;
    }
  }

  /** The store has taken the writes. False: nothing may change until they are `written`. */
  handedOver(): boolean {
    this.#changed = [];
    this.#writtenTo = this.#young.used;
    // The next batch would not fit in any more.
    this.#swaps = this.#young.size + this.#mostUnwritten > this.#halfBytes;
    return !this.#swaps;
  }

  /** What was handed over is in the store, and so may be dropped. */
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
    this.#mostUnwritten = Math.min(this.#bytes / BATCHES, MOST_UNWRITTEN);
    this.#halfBytes = (this.#bytes - this.#mostUnwritten * COPIES) / 2;
  }

  /** undefined: the store never had the coins, and is to have none. */
  #writeOf(entry: EntryName): StoreWrite | undefined {
    const { words, bytes } = entry > 0 ? this.#young : this.#old;
    const at = Math.abs(entry);
    const unspent = words[at + UNSPENT] as number; // entries are whole
    const state = words[at + STATE] as number;
    words[at + STATE] = (state & ~(STORED | CHANGED)) | (unspent === 0 ? 0 : STORED);
    if (unspent === 0 && (state & STORED) === 0) return undefined;
    const position = words[at + POSITION] as number;
    const write = this.#buffer.reserve(COIN_KEY_LENGTH + coinBytes(state) + CHECKSUM_LENGTH);
    const keyLength = writeCoinKey(write, words[at + HEIGHT] as number, indexOf(position), groupOf(position));
    if (unspent === 0) return this.#buffer.del(keyLength);
    let end = keyLength;
    let coin = at * 4 + HEAD_BYTES;
    let start = coin; // of the unspent coins that are not copied yet
    const to = coin + coinBytes(state);
    for (let next = coin; coin < to; coin = next) {
      next = coinEnd(bytes, coin);
      if ((unspent & (1 << ((bytes[coin] as number) & 31))) !== 0) continue; // coin < to
      end += bytes.copy(write, end, start, coin);
      start = next;
    }
    end += bytes.copy(write, end, start, to);
    return this.#buffer.put(keyLength, end - keyLength);
  }
}

/** Where a coin that an entry has begins. */
function startOfCoin(bytes: Buffer, entry: number, slot: number): number {
  let at = entry * 4 + HEAD_BYTES;
  while (((bytes[at] as number) & 31) !== slot) at = coinEnd(bytes, at); // it is there
  return at;
}
