// A set of slots that quickly finds the next one down or up, however far away: words of 32
// bits, and above them words with a bit for each word that is not empty, up to a single word.

/** Index of an unspent output in the columns. */
export type Slot = number;

const WORD_BITS = 32;

export class FreeSlots {
  /** Levels of words, beginning with the slots. */
  readonly #levels: Uint32Array[] = [new Uint32Array(1)];

  add(slot: Slot): void {
    this.#makeRoomFor(slot);
    let at = slot;
    for (const words of this.#levels) {
      const word = Math.floor(at / WORD_BITS);
      words[word] = (words[word] ?? 0) | (1 << (at % WORD_BITS));
      at = word;
    }
  }

  delete(slot: Slot): void {
    let at = slot;
    for (const words of this.#levels) {
      const word = Math.floor(at / WORD_BITS);
      words[word] = (words[word] ?? 0) & ~(1 << (at % WORD_BITS));
      if (words[word] !== 0) return;
      at = word;
    }
  }

  /** The highest slot in the set that is not above `slot`. */
  atOrBelow(slot: Slot): Slot | undefined {
    return this.#next(
      Math.min(slot, this.#capacity - 1),
      (word, bit) => word & (bit === WORD_BITS - 1 ? -1 : (1 << (bit + 1)) - 1),
      highestBit,
      -1
    );
  }

  /** The lowest slot in the set that is not below `slot`. */
  atOrAbove(slot: Slot): Slot | undefined {
    return this.#next(slot, (word, bit) => word & (-1 << bit), lowestBit, 1);
  }

  get #capacity(): number {
    return (this.#levels[0]?.length ?? 0) * WORD_BITS;
  }

  /** Goes up until a word has a bit that `mask` leaves, and down again to the slot. */
  #next(slot: Slot, mask: (word: number, bit: number) => number, pick: (word: number) => number, step: -1 | 1): Slot | undefined {
    let at = slot;
    for (const [level, words] of this.#levels.entries()) {
      if (at < 0) return undefined;
      const word = Math.floor(at / WORD_BITS);
      const left = mask(words[word] ?? 0, at % WORD_BITS);
      if (left !== 0) return this.#down(level, word * WORD_BITS + pick(left), pick);
      at = word + step;
    }
    return undefined;
  }

  #down(level: number, found: number, pick: (word: number) => number): Slot {
    let at = found;
    for (const words of this.#levels.slice(0, level).reverse()) at = at * WORD_BITS + pick(words[at] ?? 0);
    return at;
  }

  #makeRoomFor(slot: Slot): void {
    for (let level = 0, words = Math.floor(slot / WORD_BITS) + 1; ; level++, words = Math.ceil(words / WORD_BITS)) {
      const old = this.#levels[level];
      if (old !== undefined && old.length >= words) return;
      const grown = new Uint32Array(2 ** Math.ceil(Math.log2(words)));
      this.#levels[level] = grown;
      if (old !== undefined) grown.set(old);
      else if (level > 0) grown[0] = this.#levels[level - 1]?.[0] === 0 ? 0 : 1; // until now the only word below
      if (words === 1) return;
    }
  }
}

const highestBit = (word: number): number => WORD_BITS - 1 - Math.clz32(word);
const lowestBit = (word: number): number => WORD_BITS - 1 - Math.clz32(word & -word);
