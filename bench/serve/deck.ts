// Items in random order, each drawn once.

import { Random } from '../chain/random';

export class Deck<T> {
  readonly #left: T[];

  /** The same order on every run. */
  constructor(things: readonly T[], seed: number) {
    const random = new Random(seed);
    this.#left = [...things];
    for (let i = this.#left.length - 1; i > 0; i--) {
      const other = random.below(i + 1);
      [this.#left[i], this.#left[other]] = [this.#left[other] as T, this.#left[i] as T]; // both below the length
    }
  }

  /** @throws RangeError when fewer items are left */
  take(count: number): T[] {
    if (count > this.#left.length) throw new RangeError(`expected ${count} that nobody has had, got ${this.#left.length}`);
    return this.#left.splice(-count);
  }
}
