// How long something took, counted in buckets: the same memory however often it is counted.

/** Upper bounds of the buckets in seconds; a last bucket has everything that took longer. */
const BOUNDS: readonly number[] = [0.00025, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10, 30];

export class Durations {
  readonly bounds: readonly number[];
  /** How often something took no longer than each bound, and longer than the bound before; the last one has no bound. */
  readonly counts: Float64Array;
  /** Of all, in seconds. */
  sum = 0;

  constructor(bounds = BOUNDS) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** `seconds`: what it took, or any other number where the bounds are of another unit. */
  count(seconds: number): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && seconds > (bounds[at] as number)) at++; // below the length
    counts[at] = (counts[at] as number) + 1; // one more than bounds
    this.sum += seconds;
  }
}
