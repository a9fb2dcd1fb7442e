// The figures of a run over the index, as rows beside their targets.

import { DEFAULT_CACHE_BYTES } from '../lib/index/write/index-writer';
import { percentile } from './measure/percentile';
import type { IndexRun } from './measure/index-run';

export interface Row {
  readonly what: string;
  readonly value: string;
  readonly target?: string;
  /** Whether the target is met; absent if there is none. */
  readonly met?: boolean;
}

const MB = 1e6;
const MIB = 1_024 * 1_024;
const CACHE_MIB = DEFAULT_CACHE_BYTES / MIB;

const atLeast = (value: number, limit: number): { target: string; met: boolean } => ({
  target: `>= ${limit.toFixed(2)}`,
  met: value >= limit
});
const atMost = (value: number, limit: number, unit: string): { target: string; met: boolean } => ({
  target: `<= ${limit} ${unit}`,
  met: value <= limit
});

export function indexRows(run: IndexRun): Row[] {
  return [...catchUpRows(run), ...followingRows(run)];
}

function catchUpRows({ chain, bytes, bareSeconds, bareCpuSeconds, catchUp, nodeBytes, indexBytes }: IndexRun): Row[] {
  const [before, after] = bareSeconds;
  // The first pass finds cold caches, so the faster one counts.
  const bare = bytes / Math.min(before, after);
  const speed = bytes / catchUp.seconds;
  const flat = catchUp.lastTenth / catchUp.firstTenth;
  const memory = (catchUp.peakBytes - nodeBytes) / MIB;
  const size = (indexBytes / bytes) * 100;
  const { inputs, outputs } = chain.totals;
  const perSecond = (count: number): string => (count / catchUp.seconds).toFixed(0);
  return [
    {
      what: 'bare pass: read and hash txids',
      value: `${(bare / MB).toFixed(1)} MB/s (before ${(bytes / before / MB).toFixed(1)}, after ${(bytes / after / MB).toFixed(1)})`
    },
    { what: 'catch-up', value: `${(speed / MB).toFixed(1)} MB/s, ${(chain.height / catchUp.seconds).toFixed(1)} blocks/s` },
    { what: 'catch-up, coins', value: `${perSecond(outputs)} made/s, ${perSecond(inputs)} spent/s` },
    { what: 'catch-up : bare pass', value: (speed / bare).toFixed(2), ...atLeast(speed / bare, 0.33) },
    {
      what: 'catch-up, CPU of all threads',
      value: `${catchUp.cpuSeconds.toFixed(1)} s (bare pass ${bareCpuSeconds.map((seconds) => seconds.toFixed(1)).join(' and ')})`
    },
    {
      what: 'last tenth : first tenth',
      value: `${flat.toFixed(2)} (${(catchUp.lastTenth / MB).toFixed(1)} : ${(catchUp.firstTenth / MB).toFixed(1)} MB/s)`,
      ...atLeast(flat, 0.7)
    },
    {
      what: 'peak memory above the open node',
      value: `${memory.toFixed(0)} MiB (peak ${(catchUp.peakBytes / MIB).toFixed(0)})`,
      ...atMost(memory, CACHE_MIB + 300, 'MiB')
    },
    { what: 'index on disk, of the chain', value: `${size.toFixed(1)} % (${(indexBytes / MB).toFixed(0)} MB)`, ...atMost(size, 12, '%') }
  ];
}

function followingRows({ nodeBytes, following: { held, acknowledged, cpuPerBlock, peakBytes, readerWaits, durable } }: IndexRun): Row[] {
  if (held.length === 0) return [];
  const memory = (peakBytes - nodeBytes) / MIB;
  const [p50, p99] = [percentile(held, 0.5), percentile(held, 0.99)];
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return [
    { what: 'block: event loop held, p50', value: ms(p50), ...atMost(p50, 8, 'ms') },
    { what: 'block: event loop held, p99', value: ms(p99), ...atMost(p99, 25, 'ms') },
    { what: 'block: CPU, all threads', value: ms(cpuPerBlock), ...atMost(cpuPerBlock, 60, 'ms') },
    { what: 'following: peak memory above the open node', value: `${memory.toFixed(0)} MiB`, ...atMost(memory, CACHE_MIB + 300, 'MiB') },
    { what: 'block: until acknowledged, p50 / p99', value: `${ms(percentile(acknowledged, 0.5))} / ${ms(percentile(acknowledged, 0.99))}` },
    {
      what: 'block: a reader waits meanwhile, p50 / p99',
      value: `${ms(percentile(readerWaits, 0.5))} / ${ms(percentile(readerWaits, 0.99))}`
    },
    { what: 'block: durable when acknowledged', value: `${durable} of ${held.length}`, target: 'all', met: durable === held.length }
  ];
}

/** Columns aligned with spaces, for people. */
export function formatRows(rows: readonly Row[]): string {
  const table = rows.map(({ what, value, target = '', met }) => [what, value, target, met === undefined ? '' : met ? 'met' : 'MISSED']);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => (row[column] ?? '').length)));
  return table
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()
    )
    .join('\n');
}
