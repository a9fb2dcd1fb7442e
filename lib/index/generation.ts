// One generation of the coin cache: cache entries one behind the other in a single array, and
// an open hash table over them by txid and group. No objects, so that a million entries cost
// the collector nothing. Entries are never taken out; a generation is emptied as a whole.

import { randomBytes } from 'node:crypto';
import { entryWords, groupOf, PLACE, STATE } from './cache-entry';

/** Txids can be ground out by whoever wants long chains in the table: places depend on a secret. */
const SECRET = randomBytes(4).readInt32LE();

const FIRST_WORDS = 1 << 14;
const FIRST_SLOTS = 1 << 10;

export class Generation {
  words = new Int32Array(FIRST_WORDS);
  /** The same memory. */
  bytes = Buffer.from(this.words.buffer);
  /** Words in use. The first one is none: 0 means no entry. */
  used = 1;
  #slots = new Int32Array(FIRST_SLOTS);
  #count = 0;

  /** Bytes of entries and table in use. */
  get size(): number {
    return (this.used + this.#count * 2) * 4;
  }

  /** The entry for a txid (eight words of `from`) and group, or 0. */
  find(from: Int32Array, at: number, group: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(from, at, group) & mask; ; slot = slot + 1 & mask) {
      const entry = this.#slots[slot] as number; // masked
      if (entry === 0 || this.#isFor(entry, from, at, group)) return entry;
    }
  }

  /** Adds copies of all entries in `entries`; a later one takes the place of an earlier one of the same txid and group. */
  append(entries: Int32Array): void {
    let at = this.used;
    this.#reserve(entries.length);
    this.words.set(entries, at);
    this.used = at + entries.length;
    for (; at < this.used; at += entryWords(this.words[at + STATE] as number)) this.#insert(at);
  }

  clear(): void {
    this.used = 1;
    this.#count = 0;
    this.#slots.fill(0);
  }

  #insert(entry: number): void {
    if (this.#count * 2 >= this.#slots.length) this.#rehash();
    const { words } = this;
    const mask = this.#slots.length - 1;
    const group = groupOf(words[entry + PLACE] as number);
    for (let slot = hashOf(words, entry, group) & mask; ; slot = slot + 1 & mask) {
      const present = this.#slots[slot] as number; // masked
      if (present === 0) this.#count++;
      else if (!this.#isFor(present, words, entry, group)) continue;
      this.#slots[slot] = entry;
      return;
    }
  }

  #isFor(entry: number, from: Int32Array, at: number, group: number): boolean {
    const { words } = this;
    for (let i = 0; i < 8; i++)
      if (words[entry + i] !== from[at + i]) return false;
    return groupOf(words[entry + PLACE] as number) === group;
  }

  #rehash(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 2);
    this.#count = 0;
    for (const entry of old) if (entry !== 0) this.#insert(entry);
  }

  #reserve(count: number): void {
    let { length } = this.words;
    while (length < this.used + count) length *= 2;
    if (length === this.words.length) return;
    const grown = new Int32Array(length);
    grown.set(this.words.subarray(0, this.used));
    this.words = grown;
    this.bytes = Buffer.from(grown.buffer);
  }
}

function hashOf(words: Int32Array, at: number, group: number): number {
  let hash = SECRET ^ group;
  for (let i = 0; i < 4; i++) {
    hash = Math.imul(hash ^ (words[at + i] as number), 0x9e3779b1); // a txid has eight words
    hash ^= hash >>> 15;
  }
  return hash;
}
