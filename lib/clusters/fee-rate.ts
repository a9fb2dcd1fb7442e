// Fee rates: what transactions pay for their weight.

/** A fee in satoshis, and the weight that it pays for. */
export interface Rate {
  readonly fee: number;
  readonly weight: number;
}

/** More than 0 when `a` pays more per weight than `b`. Exact. */
export function compareRates(a: Rate, b: Rate): number {
  const [left, right] = [a.fee * b.weight, b.fee * a.weight];
  if (Number.isSafeInteger(left) && Number.isSafeInteger(right)) return left - right;
  const difference = BigInt(a.fee) * BigInt(b.weight) - BigInt(b.fee) * BigInt(a.weight);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}
