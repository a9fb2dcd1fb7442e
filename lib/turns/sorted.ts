// Sorting in slices, for lists that are too long to be sorted in one turn of the event loop.

const RUN_LENGTH = 512;

type Compare<T> = (a: T, b: T) => number;

/** A sorted copy; equal items stay in their order. Yields after every few hundred steps. */
export function* sorted<T>(items: readonly T[], compare: Compare<T>): Generator<void, T[]> {
  let [from, into] = [items.slice(), items.slice()];
  for (let start = 0; start < items.length; start += RUN_LENGTH) {
    const run = items.slice(start, start + RUN_LENGTH).sort(compare);
    for (const [i, item] of run.entries()) from[start + i] = item;
    yield;
  }
  for (let width = RUN_LENGTH; width < items.length; width *= 2) {
    for (let start = 0; start < items.length; start += 2 * width)
      yield* merge(from, into, start, start + width, start + 2 * width, compare);
    [from, into] = [into, from];
  }
  return from;
}

/** Merges two sorted lists; of equal items those of `a` come first. Yields after every few hundred steps. */
export function* merged<T>(a: readonly T[], b: readonly T[], compare: Compare<T>): Generator<void, T[]> {
  const from = [...a, ...b];
  const into = from.slice();
  yield* merge(from, into, 0, a.length, from.length, compare);
  return into;
}

/** Merges two neighbouring sorted runs: the first from `start`, the second from `middle` up to `end`, or to the end of the list. */
function* merge<T>(from: readonly T[], into: T[], start: number, middle: number, end: number, compare: Compare<T>): Generator<void, void> {
  const [between, behind] = [Math.min(middle, from.length), Math.min(end, from.length)];
  let [left, right] = [start, between];
  for (let at = start; at < behind; at++) {
    const isLeft = right === behind || (left < between && compare(from[left] as T, from[right] as T) <= 0); // both within
    into[at] = from[isLeft ? left++ : right++] as T;
    if (at % RUN_LENGTH === 0) yield;
  }
}
