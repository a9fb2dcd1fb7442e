// Sorting so many things that it would take too long in one piece.

const RUN_LENGTH = 512;

/** A sorted copy; equal ones stay in their order. Yields after every few hundred steps. */
export function* sorted<T>(things: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  let from: T[] = [];
  for (let start = 0; start < things.length; start += RUN_LENGTH) {
    from.push(...things.slice(start, start + RUN_LENGTH).sort(compare));
    yield;
  }
  for (let width = RUN_LENGTH; width < from.length; width *= 2) {
    const merged: T[] = [];
    for (let start = 0; start < from.length; start += 2 * width) yield* merge(from, start, width, compare, merged);
    from = merged;
  }
  return from;
}

/** Two sorted runs of at most `width`, the first of which begins at `start`, to the end of `merged`. */
function* merge<T>(from: readonly T[], start: number, width: number, compare: (a: T, b: T) => number, merged: T[]): Generator<void, void> {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(middle + width, from.length);
  let [left, right] = [start, middle];
  while (left < middle || right < end) {
    const isLeft = right === end || (left < middle && compare(from[left] as T, from[right] as T) <= 0);
    merged.push(from[isLeft ? left++ : right++] as T);
    if (merged.length % RUN_LENGTH === 0) yield;
  }
}
