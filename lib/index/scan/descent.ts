// Blocks one below the other, fetched ahead.

import { prefetch, type FetchedBlock } from './prefetch';
import type { BlockRows } from './rows';

export class Descent {
  readonly #fetch: (height: number) => Promise<BlockRows | undefined>;
  /** Blocks downwards from a height. */
  #ahead: { height: number; readonly blocks: AsyncIterator<FetchedBlock> } | undefined;
  /** Fetched, and not taken yet. */
  #next: FetchedBlock | undefined;

  constructor(fetch: (height: number) => Promise<BlockRows | undefined>) {
    this.#fetch = fetch;
  }

  /** The block at a height; undefined: it cannot be had, and may be asked for again. It is the same until `take`. */
  async at(height: number): Promise<BlockRows | undefined> {
    if (this.#next?.height === height) return this.#next.rows;
    const ahead =
      this.#ahead?.height === height ? this.#ahead : { height, blocks: prefetch(height, height + 1, -1, (each) => this.#fetch(each)) };
    // Only what was read well goes on.
    this.reset();
    const { value } = (await ahead.blocks.next()) as { readonly value: FetchedBlock }; // there is one for each height down to 0
    if (value.rows === undefined) return undefined;
    ahead.height--;
    this.#ahead = ahead;
    this.#next = value;
    return value.rows;
  }

  /** The block asked for last is done with. */
  take(): void {
    this.#next = undefined;
  }

  /** Blocks on their way are not wanted any more. */
  reset(): void {
    this.#ahead = this.#next = undefined;
  }
}
