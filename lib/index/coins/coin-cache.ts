// Coins on their way into the index, and those that were there lately. New ones stay until
// they are written, and most are spent before; written ones stay for a while, so that
// spending them needs no read. Two generations: what is new goes into the young one; when
// that is full and written, the old one is dropped and they change places.
//
// What is in the cache counts, not what the store has. An entry is named by a number that
// holds until the generations change places (`written`): above 0 in the young generation, below in the old one.

import { CHANGED, coinBytes, entryWords, groupOf, HEAD_BYTES, HEIGHT, PLACE, positionOf, STATE, STORED, UNSPENT } from '../records/cache-entry';
import { coinEnd } from '../records/coin-record';
import { Generation } from './generation';
import { CHECKSUM_LENGTH, coinKeyLength, writeCoinKey, type Position } from '../records/layout';
import { WriteBuffer } from '../records/write-buffer';
import type { StoreWrite } from '../../store/store';
import type { SpentCoinList } from '../records/undo-record';

export type EntryName = number;
export const NO_ENTRY: EntryName = 0;

const MOST_UNWRITTEN = 16 * 1024 * 1024;
/** A batch is at most so small a share of the cache. */
const BATCHES = 16;
/** The engine holds them of what is written at once: the batch, whose memory grows by doubling, and its new records before they are a table. */
const COPIES = 7;

export class CoinCache {
  #bytes: number;
  #halfBytes = 0;
  #mostUnwritten = 0;
  readonly #room = new WriteBuffer();
  #young: Generation;
  #old: Generation;
  /** Entries of the young generation from here on were not written yet. */
  #writtenTo = 1;
  /** The generations change places when what was handed over is written. */
  #turns = false;
  /** Entries written before that have changed since. */
  #changed: EntryName[] = [];

  /** `bytes`: what both generations with their tables and the engine's copies take at most; a block more may come together before a batch is full. */
  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#divide();
    this.#young = this.#emptyGeneration();
    this.#old = this.#emptyGeneration();
  }

  /** From now on it takes as much. A generation gives memory back when it is emptied: the old one at once, unless something waits to be written. */
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

  append(entries: Int32Array): void {
    this.#young.append(entries);
  }

  /** Where the transaction of an entry stands. */
  placeOf(entry: EntryName): Position {
    return { height: this.#word(entry, HEIGHT), index: positionOf(this.#word(entry, PLACE)) };
  }

  /** The bits of the unspent outputs. */
  unspentOf(entry: EntryName): number {
    return this.#word(entry, UNSPENT);
  }

  /**
   * Spends an output for the transaction at a place; `undo` gets coins of earlier blocks.
   * False when there is no such coin, or not yet.
   */
  spend(entry: EntryName, slot: number, height: number, position: number, undo: SpentCoinList | undefined): boolean {
    const { words, bytes } = entry > 0 ? this.#young : this.#old;
    const at = Math.abs(entry);
    const unspent = words[at + UNSPENT] as number; // entries are whole
    const made = words[at + HEIGHT] as number;
    const place = words[at + PLACE] as number;
    if ((unspent & 1 << slot) === 0 || made === height && positionOf(place) >= position) return false;
    if (undo !== undefined && made !== height) {
      let from = at * 4 + HEAD_BYTES;
      while (((bytes[from] as number) & 31) !== slot) from = coinEnd(bytes, from); // it is there
      undo.add(height - made, positionOf(place), groupOf(place), bytes, from, coinEnd(bytes, from));
    }
    words[at + UNSPENT] = unspent & ~(1 << slot);
    const state = words[at + STATE] as number;
    if ((state & CHANGED) !== 0) return true;
    words[at + STATE] = state | CHANGED;
    if (entry < this.#writtenTo) this.#changed.push(entry);
    return true;
  }

  /**
   * What brings the store to the state of the cache. To be gone through once, then `handedOver`
   * or `clear`; the bytes of a write hold until the next.
   */
  *writes(): Generator<StoreWrite> {
    // In the order of the chain, nearly, and so of the keys: the store takes neighbours faster.
    for (const entry of Int32Array.from(this.#changed).sort()) {
      const write = this.#writeOf(entry);
      if (write !== undefined) yield write;
    }
    for (let entry = this.#writtenTo; entry < this.#young.used; entry += entryWords(this.#word(entry, STATE))) {
      const write = this.#writeOf(entry);
      if (write !== undefined) yield write;
    }
  }

  /** The store has taken the writes. False: nothing may change until they are `written`. */
  handedOver(): boolean {
    this.#changed = [];
    this.#writtenTo = this.#young.used;
    // The next batch would not fit in any more.
    this.#turns = this.#young.size + this.#mostUnwritten > this.#halfBytes;
    return !this.#turns;
  }

  /** What was handed over is in the store, and so may be dropped. */
  written(): void {
    if (!this.#turns) return;
    this.#turns = false;
    [this.#young, this.#old] = [this.#old, this.#young];
    this.#young.clear();
    this.#writtenTo = 1;
  }

  clear(): void {
    this.#young = this.#emptyGeneration();
    this.#old = this.#emptyGeneration();
    this.#changed = [];
    this.#writtenTo = 1;
    this.#turns = false;
  }

  #divide(): void {
    this.#mostUnwritten = Math.min(this.#bytes / BATCHES, MOST_UNWRITTEN);
    this.#halfBytes = (this.#bytes - this.#mostUnwritten * COPIES) / 2;
  }

  #emptyGeneration(): Generation {
    return new Generation(this.#halfBytes >>> 2);
  }

  #writeOf(entry: EntryName): StoreWrite | undefined {
    const { words } = entry > 0 ? this.#young : this.#old;
    const state = this.#word(entry, STATE);
    const spent = this.#word(entry, UNSPENT) === 0;
    words[Math.abs(entry) + STATE] = state & ~(STORED | CHANGED) | (spent ? 0 : STORED);
    if (!spent) return this.#put(entry, coinBytes(state));
    return (state & STORED) === 0 ? undefined : this.#room.del(this.#writeKey(entry, 0));
  }

  #put(entry: EntryName, length: number): StoreWrite {
    const { bytes } = entry > 0 ? this.#young : this.#old;
    const from = Math.abs(entry) * 4 + HEAD_BYTES;
    const to = from + length;
    const keyLength = this.#writeKey(entry, length + CHECKSUM_LENGTH);
    const write = this.#room.reserve(0);
    const unspent = this.unspentOf(entry);
    let end = keyLength;
    let start = from; // of the unspent coins that are not copied yet
    for (let at = from, next = from; at < to; at = next) {
      next = coinEnd(bytes, at);
      if ((unspent & 1 << ((bytes[at] as number) & 31)) !== 0) continue; // at < to
      end += bytes.copy(write, end, start, at);
      start = next;
    }
    end += bytes.copy(write, end, start, to);
    return this.#room.put(keyLength, end - keyLength);
  }

  /** Writes the entry's key into the room, with more room behind it, and returns its length. */
  #writeKey(entry: EntryName, more: number): number {
    const place = this.#word(entry, PLACE);
    const length = coinKeyLength(groupOf(place));
    writeCoinKey(this.#room.reserve(length + more), this.#word(entry, HEIGHT), positionOf(place), groupOf(place));
    return length;
  }

  #word(entry: EntryName, place: number): number {
    return (entry > 0 ? this.#young.words[entry + place] : this.#old.words[place - entry]) as number; // entries are whole
  }
}
