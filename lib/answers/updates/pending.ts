// What one notifier has to collect in the next passes.

import type { SettledPasses } from './settled-passes';

export class Pending<T> {
  /** What has changed since it was last collected. */
  readonly #changed = new Set<T>();
  /** What the pass under way has collected and not handled yet. */
  readonly #collected = new Set<T>();
  readonly #most: number;
  readonly #passes: Pick<SettledPasses, 'wake'>;

  /** `most`: how much is collected by one pass, in one turn of the event loop. */
  constructor(most: number, passes: Pick<SettledPasses, 'wake'>) {
    this.#most = most;
    this.#passes = passes;
  }

  /** Has it collected by the next pass. */
  add(item: T): void {
    this.include(item);
    this.#passes.wake();
  }

  /** As `add`, for the pass that is just about to collect. */
  include(item: T): void {
    this.#changed.add(item);
  }

  /** Whether it has changed and was not handled since. */
  has(item: T): boolean {
    return this.#changed.has(item) || this.#collected.has(item);
  }

  /** Nobody listens to it any more. */
  delete(item: T): void {
    this.#changed.delete(item);
    this.#collected.delete(item);
  }

  /** How many passes it takes to collect what has changed. */
  get passesLeft(): number {
    return Math.ceil(this.#changed.size / this.#most);
  }

  /** To be called for what was collected, as soon as it is handled. */
  handled(item: T): void {
    this.#collected.delete(item);
  }

  /**
   * Takes out what has changed, and calls `read` for each in this turn. The function that it returns has it handled; what was not handled in
   * the end, perhaps because of an error, is collected again by the pass after that.
   */
  collect<C>(read: (item: T) => C, handle: (collected: readonly (readonly [T, C])[]) => Promise<void>): () => Promise<void> {
    const collected: [T, C][] = [];
    for (const item of this.#changed) {
      if (collected.length === this.#most) {
        this.#passes.wake();
        break;
      }
      this.#changed.delete(item);
      this.#collected.add(item);
      collected.push([item, read(item)]);
    }
    return async () => {
      try {
        await handle(collected);
      } finally {
        for (const item of this.#collected) this.#changed.add(item);
        this.#collected.clear();
      }
    };
  }
}
