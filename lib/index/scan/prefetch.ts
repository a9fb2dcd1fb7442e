// The rows of blocks in order, a few of them under way while one is worked on.

import type { BlockRows } from './rows';

/** Enough for the node's disk and the scanning thread to be busy while blocks are taken in. */
const IN_FLIGHT = 5;

/** A block, or what else was made of it. */
export interface FetchedBlock<T = BlockRows> {
  readonly height: number;
  /** undefined: the node does not have the block, or no longer. */
  readonly rows: T | undefined;
}

/** `count` blocks from a height on, upwards (`step` 1) or downwards (-1). A caller that stops early leaves the rest alone. */
export function prefetch(
  from: number,
  count: number,
  step: 1 | -1,
  fetch: (height: number) => Promise<BlockRows | undefined>
): AsyncGenerator<FetchedBlock>;
export function prefetch<T>(
  from: number,
  count: number,
  step: 1 | -1,
  fetch: (height: number) => Promise<T | undefined>
): AsyncGenerator<FetchedBlock<T>>;
export async function* prefetch<T>(
  from: number,
  count: number,
  step: 1 | -1,
  fetch: (height: number) => Promise<T | undefined>
): AsyncGenerator<FetchedBlock<T>> {
  const underWay: Promise<FetchedBlock<T>>[] = [];
  for (let next = 0; next < count || underWay.length > 0;) {
    for (; next < count && underWay.length < IN_FLIGHT; next++) {
      const height = from + next * step;
      const fetched = fetch(height).then((rows) => ({ height, rows }));
      // The caller may have stopped by then; a rejection that nobody handles would end the node.
      fetched.catch(() => undefined);
      underWay.push(fetched);
    }
    yield await (underWay.shift() as Promise<FetchedBlock<T>>); // not empty: see the loops
  }
}
