// Yields blocks in order, and fetches the next ones while one is processed.

/** Enough fetches to keep the node's disk and the scanning thread busy while blocks are added to the index. */
const IN_FLIGHT = 5;

/** What was fetched for the block at a height. */
export interface Fetched<T> {
  readonly height: number;
  /** undefined: the block is not available, or no longer. */
  readonly block: T | undefined;
}

/** `count` blocks from a height on, upwards (`step` 1) or downwards (-1). A caller may stop early. */
export async function* prefetch<T>(
  from: number,
  count: number,
  step: 1 | -1,
  fetch: (height: number) => Promise<T | undefined>
): AsyncGenerator<Fetched<T>> {
  const underWay: Promise<Fetched<T>>[] = [];
  for (let next = 0; next < count || underWay.length > 0;) {
    for (; next < count && underWay.length < IN_FLIGHT; next++) {
      const height = from + next * step;
      const fetched = fetch(height).then((block) => ({ height, block }));
      // The caller may have stopped by then; an unhandled rejection would end the node.
      fetched.catch(() => undefined);
      underWay.push(fetched);
    }
    yield await (underWay.shift() as Promise<Fetched<T>>); // not empty: see the loops
  }
}

/** Blocks downwards, for a caller that asks for the next one at any time, or for the same one again. */
export class Descent<T> {
  readonly #fetch: (height: number) => Promise<T | undefined>;
  /** The blocks to come, from a height downwards. */
  #ahead: { height: number; readonly blocks: AsyncIterator<Fetched<T>> } | undefined;
  /** The block asked for last, until it is taken. */
  #current: Fetched<T> | undefined;

  constructor(fetch: (height: number) => Promise<T | undefined>) {
    this.#fetch = fetch;
  }

  /** The block at a height, kept until `take`. undefined: it is not available now, and may be asked for again. */
  async at(height: number): Promise<T | undefined> {
    if (this.#current?.height === height) return this.#current.block;
    const ahead =
      this.#ahead?.height === height ? this.#ahead : { height, blocks: prefetch(height, height + 1, -1, (each) => this.#fetch(each)) };
    // After an error or a missing block the next call starts over.
    this.reset();
    const { value } = (await ahead.blocks.next()) as { readonly value: Fetched<T> }; // there is one for each height down to 0
    if (value.block === undefined) return undefined;
    ahead.height--;
    this.#ahead = ahead;
    this.#current = value;
    return value.block;
  }

  /** Drops the block asked for last. */
  take(): void {
    this.#current = undefined;
  }

  /** Forgets the blocks that are being fetched. */
  reset(): void {
    this.#ahead = this.#current = undefined;
  }
}
