// Sorting in slices, for lists that are too long to be sorted in one turn of the event loop.

const RUN_LENGTH = 512;

type Compare<T> = (a: T, b: T) => number;

/** A sorted copy; equal elements stay in their order. Yields after every few hundred steps. */
export function* sorted<T>(things: readonly T[], compare: Compare<T>): Generator<void, T[]> {
  let [from, into] = [things.slice(), things.slice()];
  for (let start = 0; start < things.length; start += RUN_LENGTH) {
    const run = things.slice(start, start + RUN_LENGTH).sort(compare);
    for (const [i, thing] of run.entries()) from[start + i] = thing;
    yield;
  }
  for (let width = RUN_LENGTH; width < things.length; width *= 2) {
    for (let start = 0; start < things.length; start += 2 * width) yield* merge(from, into, start, width, compare);
    [from, into] = [into, from];
  }
  return from;
}

/** Merges two sorted runs of at most `width` elements, the first of which begins at `start`. */
function* merge<T>(from: readonly T[], into: T[], start: number, width: number, compare: Compare<T>): Generator<void, void> {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(middle + width, from.length);
  let [left, right] = [start, middle];
  for (let at = start; at < end; at++) {
    const isLeft = right === end || (left < middle && compare(from[left] as T, from[right] as T) <= 0);
    into[at] = from[isLeft ? left++ : right++] as T;
    if (at % RUN_LENGTH === 0) yield;
  }
}
