// The figures of a run as text, for people.

import type { LoadResult } from '../clients/load';
import type { MixedFigures } from './load-measures';
import type { RowFigures } from './measure';

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

const us = (value: number | undefined): string => value === undefined ? '' : value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
const times = (value: number | undefined, digits = 2): string => value === undefined || Number.isNaN(value) ? '' : `${value.toFixed(digits)}x`;
const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 0);
const verdict = (met: boolean | undefined): string => met === undefined ? '' : met ? 'met' : 'MISSED';

/** CPU per request in microseconds. "Core": Bitcoin Core in this run, or as recorded on a machine of this kind. */
export function cpuTable(rows: readonly RowFigures[]): string {
  const isLive = rows.some(({ bitcoind }) => bitcoind !== undefined);
  const hasBefore = rows.some(({ before }) => before !== undefined);
  const head = ['request', 'reply', 'ours', 'bare', 'ours:bare', ...hasBefore ? ['before', 'before:ours'] : [], 'bcoin', 'bcoin:ours', isLive ? 'Core' : 'Core*', 'Core:ours', 'target', '', 'p50 ms', 'p99 ms'];
  const lines = rows.map(({ row, bytes, ours, bare, own, before, bitcoind }) => {
    const core = bitcoind?.cpu ?? row.core;
    const ratio = core === undefined ? undefined : core / ours.cpu;
    return [
      row.name, sizeText(bytes), us(ours.cpu), us(bare.cpu), times(ours.cpu / bare.cpu),
      ...hasBefore ? [us(before?.cpu), times(before && before.cpu / ours.cpu)] : [],
      us(own?.cpu), times(own && own.cpu / ours.cpu, 1), us(core), times(ratio), times(row.target, 1),
      verdict(ratio === undefined || row.target === undefined ? undefined : ratio >= row.target), ms(ours.p50), ms(ours.p99)
    ];
  });
  return columns([head, ...lines]);
}

export function crowdTable(rows: readonly CrowdFigures[]): string {
  const head = ['64 connections', 'p50 ms', 'p99 ms', 'longest', 'p50 at 16', 'p50 : p50 at 16', 'p99 : p50 at 16', '', 'refused', 'bare: p50', 'p99'];
  return columns([head, ...rows.map(({ name, ours: { p50At16, result }, bare }) => {
    const { answered, p50, p99, longest, refused, failed } = result;
    return [
      name, ms(p50), ms(p99), ms(longest), ms(p50At16), times(p50 / p50At16, 1), times(p99 / p50At16, 1), verdict(answered > 0 && p99 <= CROWD_FACTOR * p50At16),
      String(refused + failed), times(bare.result.p50 / bare.p50At16, 1), times(bare.result.p99 / bare.p50At16, 1)
    ];
  })]);
}

export function mixedTable({ small, blocksPerSecond, refusedBlocks, peakBytes, aloneBytes }: MixedFigures): string {
  const above = (peakBytes - aloneBytes) / MIB;
  return columns([
    ['8 clients ask for block JSON', '', 'target', ''],
    ['small request, p50 / p99 / longest', `${ms(small.p50)} / ${ms(small.p99)} / ${ms(small.longest)} ms`, `p99 < ${SMALL_P99_MS} ms`, verdict(small.p99 < SMALL_P99_MS)],
    ['small requests refused', String(small.refused + small.failed), '0', verdict(small.refused + small.failed === 0)],
    ['blocks per second', `${blocksPerSecond.toFixed(1)} (${refusedBlocks} refused)`, `>= ${BLOCKS_PER_SECOND}`, verdict(blocksPerSecond >= BLOCKS_PER_SECOND)],
    ['memory above the node alone', `${above.toFixed(0)} MiB (${(peakBytes / MIB).toFixed(0)} - ${(aloneBytes / MIB).toFixed(0)})`, `<= ${MEMORY_MIB} MiB`, verdict(above <= MEMORY_MIB)]
  ]);
}

function sizeText(bytes: number): string {
  return bytes < 10_000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function columns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines.map((line) => line.map((text, column) => column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0)).join('  ').trimEnd()).join('\n');
}
