// Sizes and rates for people.

import { grouped } from '../../parts/amounts';
import { vsizeOf, type Transaction } from '../data/types';

/** `168 B`, `1.29 kB`, `1.53 MB`. */
export function sizeText(bytes: number, unit = 'B'): string {
  if (bytes < 1_000) return `${bytes} ${unit}`;
  const [value, name] = bytes < 1_000_000 ? [bytes / 1_000, 'k'] : [bytes / 1_000_000, 'M'];
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${name}${unit}`;
}

/** Hundredths of satoshis per virtual byte, rounded: from whole numbers, so that it is the same everywhere. */
export function feeRate({ fee, weight }: Pick<Transaction, 'fee' | 'weight'>): string | undefined {
  return fee === undefined ? undefined : rateText(fee, vsizeOf(weight));
}

/** `59.52`: satoshis per virtual byte. */
export function rateText(fee: bigint, vsize: number): string {
  const hundredths = (fee * 200n + BigInt(vsize)) / (2n * BigInt(vsize));
  return `${grouped(hundredths / 100n)}.${String(hundredths % 100n).padStart(2, '0')}`;
}
