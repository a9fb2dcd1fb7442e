// Sorting in slices, between which callers can give the event loop a turn.

/** Items that are sorted in one piece, which takes less than a millisecond. */
const SORTED_AT_ONCE = 512;

type Compare<T> = (a: T, b: T) => number;

/** A sorted copy. Yields often. */
export function* sortInSlices<T>(items: readonly T[], compare: Compare<T>): Generator<void, T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += SORTED_AT_ONCE) {
    runs.push(items.slice(from, from + SORTED_AT_ONCE).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) longer.push(yield* mergeInSlices(runs[i] as T[], runs[i + 1] ?? [], compare)); // i < length
    runs = longer;
  }
  return runs[0] ?? [];
}

/** Merges two sorted lists; of equal items those of `a` come first. Yields often. */
export function* mergeInSlices<T>(a: readonly T[], b: readonly T[], compare: Compare<T>): Generator<void, T[]> {
  const merged: T[] = [];
  let [left, right] = [0, 0];
  while (left < a.length && right < b.length) {
    const [first, second] = [a[left] as T, b[right] as T]; // both within
    if (compare(first, second) <= 0) {
      merged.push(first);
      left++;
    } else {
      merged.push(second);
      right++;
    }
    yield;
  }
  // At most one of the lists has items left.
  for (const rest of [a.slice(left), b.slice(right)])
    for (const item of rest) {
      merged.push(item);
      yield;
    }
  return merged;
}
