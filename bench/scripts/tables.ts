// The figures of a run as text, for people.

import { microseconds as us, Table, type Column } from '../measure/table';
import type { AbuseFigures } from './abuse';
import type { LargeTransactionFigures } from './large-transactions';
import type { StoreFigures } from './store-figures';
import type { PeerFigures, RequestFigures } from './request-figures';

const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 0);
const MIB = 1_024 * 1_024;

/** Microseconds of processor time per request; the longest turn in milliseconds of the main thread. */
export function requestTable(peers: readonly string[]): Table<RequestFigures> {
  const of =
    (name: string, text: (figures: PeerFigures) => string) =>
    ({ peers: all }: RequestFigures) => {
      const figures = all.find(({ peer }) => peer === name);
      return figures === undefined ? '-' : text(figures);
    };
  const columns: Column<RequestFigures>[] = [
    { title: 'µs of CPU', text: ({ row }) => row.name },
    { title: 'bytes', text: ({ bytes }) => String(bytes) }
  ];
  for (const name of peers) {
    columns.push({ title: `${name} again`, text: of(name, ({ hot }) => us(hot)) });
    columns.push({ title: 'once', text: of(name, ({ cold }) => us(cold)) });
    columns.push({ title: 'turn ms', text: of(name, ({ loop }) => ms(loop.cpuMs)) });
  }
  columns.push({ title: 'goal', text: ({ row: { hotGoal, coldGoal } }) => [hotGoal, coldGoal].map((goal) => us(goal)).join('/') });
  return new Table(columns, 26);
}

/** Waits in milliseconds. */
export function abuseTable(): Table<AbuseFigures> {
  return new Table<AbuseFigures>(
    [
      { title: '64 connections ask for', text: ({ name }) => name },
      { title: 'answered/s', text: ({ abuse: { answered, seconds } }) => (answered / seconds).toFixed(0) },
      { title: 'refused/s', text: ({ abuse: { refused, seconds } }) => (refused / seconds).toFixed(0) },
      { title: 'small/s', text: ({ small: { answered, seconds } }) => (answered / seconds).toFixed(0) },
      { title: 'p50', text: ({ small: { p50 } }) => ms(p50) },
      { title: 'p99', text: ({ small: { p99 } }) => ms(p99) },
      { title: 'alone/s', text: ({ alone: { answered, seconds } }) => (answered / seconds).toFixed(0) },
      { title: 'p50', text: ({ alone: { p50 } }) => ms(p50) },
      { title: 'p99', text: ({ alone: { p99 } }) => ms(p99) },
      { title: 'turn CPU', text: ({ loop }) => ms(loop.cpuMs) },
      { title: 'turn', text: ({ loop }) => ms(loop.ms) },
      { title: 'MiB', text: ({ bytesBefore }) => (bytesBefore / MIB).toFixed(0) },
      { title: 'peak', text: ({ peakBytes }) => (peakBytes / MIB).toFixed(0) },
      { title: '', text: ({ status, text }) => `${status} ${text}` }
    ],
    22
  );
}

/** Figures for a million rows. */
export function storeTable(): Table<StoreFigures> {
  return new Table<StoreFigures>(
    [
      { title: 'for a million rows', text: ({ name }) => name },
      { title: 'CPU s', text: ({ cpuSeconds }) => cpuSeconds.toFixed(2) },
      { title: 'MB written', text: ({ writtenMB }) => writtenMB.toFixed(0) },
      { title: 'bytes a row', text: ({ bytesPerRow }) => (bytesPerRow === 0 ? '-' : bytesPerRow.toFixed(1)) }
    ],
    42
  );
}

/** Milliseconds for which the event loop is held. */
export function largeTransactionTable(): Table<LargeTransactionFigures> {
  return new Table<LargeTransactionFigures>(
    [
      { title: 'a transaction of 100,000 bytes', text: ({ name }) => name },
      { title: 'lowest ms', text: ({ lowestMs }) => ms(lowestMs) },
      { title: 'median ms', text: ({ medianMs }) => ms(medianMs) },
      { title: 'times a map of its scripts', text: ({ timesMap }) => timesMap.toFixed(1) }
    ],
    83
  );
}
