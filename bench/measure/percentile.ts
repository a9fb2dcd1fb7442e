// Percentiles of a handful of measurements.

/** The smallest value that at least `share` (0 to 1) of the values do not exceed. @throws RangeError for no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const found = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (found === undefined) throw new RangeError('expected at least one value, got none');
  return found;
}
