// One generation of the coin cache: cache entries one after another in a single array, and
// an open-addressing hash table over them by txid and group. There are no objects, so that a
// million entries cost the garbage collector nothing. Entries are never removed; a generation
// is emptied as a whole.
//
// A slot of the table is two words, the entry and its hash. Entries are rarely in the processor's
// caches: comparing the hash first avoids reading entries of other txids.

import { randomBytes } from 'node:crypto';
import { entryWords, groupOf, POSITION, STATE } from '../records/cache-entry';

/** Slots depend on a secret: otherwise somebody could grind txids that collide in the table. */
const SECRET = randomBytes(4).readInt32LE();

const FIRST_WORDS = 1 << 14;
const FIRST_SLOTS = 1 << 6;
/** Growing copies everything, so it is rare and by a large factor. Pages that were never written to take no memory. */
const GROWTH = 8;

export class Generation {
  words = new Int32Array(FIRST_WORDS);
  /** The memory of `words`. */
  bytes = Buffer.from(this.words.buffer);
  /** Words in use. The first word is left free: 0 means no entry. */
  used = 1;
  #mostWords: number;
  #isTooLarge = false;
  #slots = new Int32Array(FIRST_SLOTS * 2);
  #count = 0;

  /** `mostWords`: length up to which `words` grows; a single batch may exceed it. */
  constructor(mostWords: number) {
    this.#mostWords = mostWords;
  }

  /** Sets the length up to which `words` grows. If `words` is longer, it is cut when the generation is emptied. */
  resize(mostWords: number): void {
    this.#mostWords = mostWords;
    this.#isTooLarge = this.words.length > mostWords;
  }

  /** Bytes of the entries and of the table. The table never becomes smaller. */
  get size(): number {
    return (this.used + this.#slots.length) * 4;
  }

  /** The entry for a txid (eight words of `from`) and group, or 0. */
  find(from: Int32Array, at: number, group: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = hashOf(from, at, group);
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const entry = slots[slot] as number; // masked
      if (entry === 0 || (slots[slot + 1] === hash && this.#isFor(entry, from, at, group))) return entry;
    }
  }

  /** Adds copies of all entries in `entries`; a later one replaces an earlier one of the same txid and group. */
  append(entries: Int32Array): void {
    let at = this.used;
    this.#reserve(entries.length);
    this.words.set(entries, at);
    this.used = at + entries.length;
    for (; at < this.used; at += entryWords(this.words[at + STATE] as number)) this.#insert(at);
  }

  clear(): void {
    if (this.#isTooLarge) this.#cut();
    this.used = 1;
    this.#count = 0;
    this.#slots.fill(0);
  }

  #insert(entry: number): void {
    if (this.#count * 4 >= this.#slots.length) this.#growTable();
    const { words } = this;
    const slots = this.#slots;
    const mask = slots.length - 1;
    const group = groupOf(words[entry + POSITION] as number);
    const hash = hashOf(words, entry, group);
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const present = slots[slot] as number; // masked
      if (present === 0) this.#count++;
      else if (slots[slot + 1] !== hash || !this.#isFor(present, words, entry, group)) continue;
      slots[slot] = entry;
      slots[slot + 1] = hash;
      return;
    }
  }

  #isFor(entry: number, from: Int32Array, at: number, group: number): boolean {
    const { words } = this;
    for (let i = 0; i < 8; i++) if (words[entry + i] !== from[at + i]) return false;
    return groupOf(words[entry + POSITION] as number) === group;
  }

  #growTable(): void {
    const old = this.#slots;
    const slots = new Int32Array(old.length * 2);
    const mask = slots.length - 1;
    for (let from = 0; from < old.length; from += 2) {
      if (old[from] === 0) continue;
      let slot = ((old[from + 1] as number) << 1) & mask; // slots are whole
      while (slots[slot] !== 0) slot = (slot + 2) & mask;
      slots[slot] = old[from] as number;
      slots[slot + 1] = old[from + 1] as number;
    }
    this.#slots = slots;
  }

  /** Allocates the greatest length at once: growing step by step again would block the event loop. */
  #cut(): void {
    this.#isTooLarge = false;
    this.words = new Int32Array(Math.max(this.#mostWords, FIRST_WORDS));
    this.bytes = Buffer.from(this.words.buffer);
  }

  #reserve(count: number): void {
    const needed = this.used + count;
    if (needed <= this.words.length) return;
    const grown = new Int32Array(
      Math.max(needed, Math.min(this.words.length * GROWTH, this.#mostWords), Math.ceil(this.words.length * 1.25))
    );
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
