// The pool by fee rate: how many virtual bytes wait in each band of rates, and how many of them the next block would take.

import type { Sats } from '../../parts/amounts';
import type { RateBand } from '../data/types';

/** What a block has room for, beside its coinbase. */
export const BLOCK_VSIZE = 998_000;

/** Lower bounds of bands in sat/vB. */
const EDGES = [
  0, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400, 500, 700, 1_000, 2_000
] as const;

/** A band of a chart, from a rate up to the next one's. */
export interface Bar {
  readonly from: number;
  /** Undefined for the last band. */
  readonly to: number | undefined;
  readonly vsize: number;
  /** The part of it that the next block would take. */
  readonly next: number;
}

/** Of transactions, in descending order of rates. */
export function bandsOf(pooled: readonly { readonly fee: Sats; readonly vsize: number }[]): RateBand[] {
  const sizes = new Map<number, number>();
  for (const { fee, vsize } of pooled) {
    const { from } = EDGES_OF[edgeOf(Number(fee) / vsize)] ?? { from: 0 };
    sizes.set(from, (sizes.get(from) ?? 0) + vsize);
  }
  return [...sizes].map(([rate, vsize]) => ({ rate, vsize })).sort((a, b) => b.rate - a.rate);
}

const EDGES_OF = EDGES.map((from, i) => ({ from, to: EDGES[i + 1] }));

/** The number of the band of a rate. */
function edgeOf(rate: number): number {
  const above = EDGES.findIndex((edge) => edge > rate);
  return above < 0 ? EDGES.length - 1 : Math.max(0, above - 1);
}

/** The bands from the lowest to the highest one that is not empty. `bands`: in descending order of rates. */
export function barsOf(bands: readonly RateBand[]): readonly Bar[] {
  const bars = EDGES_OF.map(({ from, to }) => ({ from, to, vsize: 0, next: 0 }));
  let room = BLOCK_VSIZE;
  for (const { rate, vsize } of bands) {
    const bar = bars[edgeOf(rate)];
    const taken = Math.min(room, vsize);
    room -= taken;
    if (bar === undefined) continue;
    bar.vsize += vsize;
    bar.next += taken;
  }
  const [first, last] = [bars.findIndex(({ vsize }) => vsize > 0), bars.findLastIndex(({ vsize }) => vsize > 0)];
  return first < 0 ? [] : bars.slice(first, last + 1);
}

/** What the next block would take: its size, and the lowest rate in it. */
export function nextBlock(bands: readonly RateBand[]): { readonly vsize: number; readonly lowest: number | undefined } {
  let vsize = 0;
  let lowest: number | undefined;
  for (const band of bands) {
    if (vsize >= BLOCK_VSIZE) break;
    vsize = Math.min(BLOCK_VSIZE, vsize + band.vsize);
    lowest = band.rate;
  }
  return { vsize, lowest };
}

/** `5 – 6`, or `2,000 +` for the last band. */
export const rangeText = ({ from, to }: Bar): string => (to === undefined ? `${from}+` : `${from}–${to}`);
