// The figures of a run as text, for people.

import { microseconds, Table, type Column } from '../measure/table';
import { isFailure, type Failure } from './failure';
import type { LoadResult } from '../clients/load';
import type { WholeBlockReads } from './chain-reader';
import type { MixedFigures } from './load-measures';
import type { RowFigures } from './measure';
import type { Row } from './rows';
import type { Figure } from './tasks';

type Cell = Figure | Failure | undefined;

const us = (value: number | undefined): string => microseconds(value, '');
const times = (value: number | undefined, digits = 2): string =>
  value === undefined || Number.isNaN(value) ? '' : `${value.toFixed(digits)}x`;
const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 0);
const verdict = (met: boolean | undefined): string => (met === undefined ? '' : met ? 'met' : 'MISSED');

const cpuOf = (cell: Cell): number | undefined => (cell === undefined || isFailure(cell) ? undefined : cell.cpu);
const cellText = (cell: Cell): string => (isFailure(cell) ? cell.failure : us(cpuOf(cell)));
const ratio = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : one / other;
const isMet = (value: number | undefined, target: number | undefined): boolean | undefined =>
  value === undefined || target === undefined ? undefined : value >= target;

export interface CpuTableOptions {
  readonly rows: readonly Row[];
  /** Whether there is another checkout, and a Bitcoin Core, in the run. */
  readonly hasBefore: boolean;
  readonly isLive: boolean;
}

/** CPU per request in microseconds. "Core": Bitcoin Core in this run, or as recorded on a machine of this kind (Core*). */
export function cpuTable({ rows, hasBefore, isLive }: CpuTableOptions): Table<RowFigures> {
  const core = isLive ? 'Core' : 'Core*';
  const coreCached = ({ row, cached }: RowFigures): number | undefined => (isLive ? cpuOf(cached.bitcoind) : row.core);
  const cachedRatio = (figures: RowFigures): number | undefined => ratio(coreCached(figures), cpuOf(figures.cached.ours));
  const coreBest = (figures: RowFigures): number | undefined => least(coreCached(figures), cpuOf(figures.cold.bitcoind));
  const coldRatio = (figures: RowFigures): number | undefined => ratio(coreBest(figures), cpuOf(figures.cold.ours));
  const columns: Column<RowFigures>[] = [
    { title: 'request', text: ({ row }) => row.name },
    { title: 'reply', text: ({ bytes }) => sizeText(bytes) },
    { title: 'ours', text: ({ cached }) => cellText(cached.ours) },
    { title: 'bare', text: ({ cached }) => cellText(cached.bare) },
    { title: 'ours:bare', text: ({ cached }) => times(ratio(cpuOf(cached.ours), cpuOf(cached.bare))) },
    ...(hasBefore ? beforeColumns('before', ({ cached }) => cached) : []),
    { title: 'bcoin', text: ({ cached }) => cellText(cached.own) },
    { title: 'bcoin:ours', text: ({ cached }) => times(ratio(cpuOf(cached.own), cpuOf(cached.ours)), 1) },
    { title: core, text: ({ row, cached }) => (row.isNew ? '–' : isLive ? cellText(cached.bitcoind) : us(row.core)) },
    { title: `${core}:ours`, text: (figures) => times(cachedRatio(figures)) },
    { title: 'target', text: ({ row }) => times(row.target, 1) },
    { title: '', text: (figures) => verdict(isMet(cachedRatio(figures), figures.row.target)) },
    { title: 'cold', text: ({ row, cold }) => (row.cold === undefined ? '–' : cellText(cold.ours)) },
    ...(hasBefore ? beforeColumns('before, cold', ({ cold }) => cold) : []),
    ...(isLive ? [{ title: 'Core, cold', text: ({ cold }: RowFigures) => cellText(cold.bitcoind) }] : []),
    { title: `${core}:cold`, text: (figures) => times(coldRatio(figures)) },
    { title: 'target', text: ({ row }) => times(row.cold?.target, 1) },
    { title: '', text: (figures) => verdict(isMet(coldRatio(figures), figures.row.cold?.target)) },
    { title: 'p50 ms', text: ({ cached: { ours } }) => (ours === undefined || isFailure(ours) ? '' : ms(ours.p50)) },
    { title: 'p99 ms', text: ({ cached: { ours } }) => (ours === undefined || isFailure(ours) ? '' : ms(ours.p99)) }
  ];
  return new Table(columns, longest(rows.map(({ name }) => name)));
}

function beforeColumns(title: string, cells: (figures: RowFigures) => RowFigures['cached']): Column<RowFigures>[] {
  return [
    { title, text: (figures) => cellText(cells(figures).before) },
    { title: 'before:ours', text: (figures) => times(ratio(cpuOf(cells(figures).before), cpuOf(cells(figures).ours))) }
  ];
}

const least = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

export interface CrowdFigures {
  readonly name: string;
  readonly ours: Crowd;
  /** With the same bytes. */
  readonly bare: Crowd;
}

interface Crowd {
  readonly result: LoadResult;
  /** Milliseconds with 16 connections. */
  readonly p50At16: number;
}

const MIB = 1_024 * 1_024;
const CROWD_FACTOR = 4;
const SMALL_P99_MS = 10;
const BLOCKS_PER_SECOND = 25;
const MEMORY_MIB = 300;

export function crowdTable(names: readonly string[]): Table<CrowdFigures> {
  return new Table<CrowdFigures>(
    [
      { title: '64 connections', text: ({ name }) => name },
      { title: 'p50 ms', text: ({ ours }) => ms(ours.result.p50) },
      { title: 'p99 ms', text: ({ ours }) => ms(ours.result.p99) },
      { title: 'longest', text: ({ ours }) => ms(ours.result.longest) },
      { title: 'p50 at 16', text: ({ ours }) => ms(ours.p50At16) },
      { title: 'p50 : p50 at 16', text: ({ ours: { result, p50At16 } }) => times(result.p50 / p50At16, 1) },
      { title: 'p99 : p50 at 16', text: ({ ours: { result, p50At16 } }) => times(result.p99 / p50At16, 1) },
      { title: '', text: ({ ours: { result, p50At16 } }) => verdict(result.answered > 0 && result.p99 <= CROWD_FACTOR * p50At16) },
      { title: 'refused', text: ({ ours: { result } }) => String(result.refused + result.failed) },
      { title: 'bare: p50', text: ({ bare: { result, p50At16 } }) => times(result.p50 / p50At16, 1) },
      { title: 'p99', text: ({ bare: { result, p50At16 } }) => times(result.p99 / p50At16, 1) }
    ],
    longest(names)
  );
}

export function mixedTable({ small, blocksPerSecond, refusedBlocks, peakBytes, aloneBytes }: MixedFigures): string {
  const above = (peakBytes - aloneBytes) / MIB;
  return columns([
    ['8 clients ask for block JSON', '', 'target', ''],
    [
      'small request, p50 / p99 / longest',
      `${ms(small.p50)} / ${ms(small.p99)} / ${ms(small.longest)} ms`,
      `p99 < ${SMALL_P99_MS} ms`,
      verdict(small.p99 < SMALL_P99_MS)
    ],
    ['small requests refused', String(small.refused + small.failed), '0', verdict(small.refused + small.failed === 0)],
    [
      'blocks per second',
      `${blocksPerSecond.toFixed(1)} (${refusedBlocks} refused)`,
      `>= ${BLOCKS_PER_SECOND}`,
      verdict(blocksPerSecond >= BLOCKS_PER_SECOND)
    ],
    [
      'memory above the node alone',
      `${above.toFixed(0)} MiB (${(peakBytes / MIB).toFixed(0)} - ${(aloneBytes / MIB).toFixed(0)})`,
      `<= ${MEMORY_MIB} MiB`,
      verdict(above <= MEMORY_MIB)
    ]
  ]);
}

const LIKENESS = 1.2;

/** The cost of rows beside that of similar rows, each in multiples of the bare server with the same bytes in the same rounds. */
export function likenessLine(rows: readonly RowFigures[]): string | undefined {
  const overBare = ({ cached }: RowFigures): number | undefined => ratio(cpuOf(cached.ours), cpuOf(cached.bare));
  const parts = rows.flatMap((figures) => {
    const { name, like } = figures.row;
    const other = rows.find(({ row }) => row.name === like);
    if (other === undefined) return [];
    const likeness = ratio(overBare(figures), overBare(other));
    return likeness === undefined ? [] : [`${name} ${times(likeness)} (${verdict(likeness <= LIKENESS)})`];
  });
  return parts.length === 0 ? undefined : `Beside block.bin for as many bytes, at most ${times(LIKENESS, 1)}: ${parts.join(', ')}`;
}

export function wholeBlocksLine({ blockBytes, cpuMicroseconds }: WholeBlockReads): string {
  return (
    `This bcoin reads blocks as a whole: ${us(cpuMicroseconds)} µs for one of ${sizeText(blockBytes)}. ` +
    'A cold transaction costs that more when its block is not in memory; here all 40 are.'
  );
}

function sizeText(bytes: number): string {
  return bytes < 10_000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

const longest = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length));

function columns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => longest(lines.map((line) => line[column] ?? '')));
  return lines
    .map((line) =>
      line
        .map((text, column) => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd()
    )
    .join('\n');
}
