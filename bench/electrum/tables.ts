// The figures of a run as text, for people.

import { Table, type Column } from '../serve/table';
import type { CallFigures } from './call-figures';
import type { BlockFigures, MemoryFigures } from './load';

const MIB = 1024 * 1024;
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

export function callTable(peers: readonly string[]): Table<CallFigures> {
  const columns: Column<CallFigures>[] = [
    { title: 'µs of CPU', text: ({ name }) => name },
    { title: 'bytes', text: ({ bytes }) => String(bytes) }
  ];
  for (const name of peers) {
    columns.push({ title: name, text: ({ costs }) => costs.get(name)?.cpu.toFixed(1) ?? '-' });
    columns.push({ title: ': empty', text: ({ costs }) => costs.get(name)?.ratio.toFixed(2) ?? '-' });
    columns.push({ title: 'turn ms', text: ({ costs }) => costs.get(name)?.turnMs?.toFixed(1) ?? '-' });
  }
  return new Table(columns, 22);
}

const TOLD_MS = 2_000;
const WAIT_MS = 20;
const TURN_MS = 10;
const verdict = (isMet: boolean): string => (isMet ? 'met' : 'MISSED');

/** Waits in milliseconds. */
export function blockTable(): Table<BlockFigures> {
  return new Table<BlockFigures>(
    [
      { title: 'a block comes', text: ({ name }) => name },
      { title: 'scripts', text: ({ scripts }) => String(scripts) },
      { title: 'connecting', text: ({ connectingMs }) => ms(connectingMs) },
      { title: 'told ms', text: ({ toldMs }) => (toldMs === undefined ? '-' : ms(toldMs)) },
      { title: '', text: ({ toldMs }) => (toldMs === undefined ? '' : verdict(toldMs <= TOLD_MS)) },
      { title: 'CPU ms', text: ({ cpuMs }) => ms(cpuMs) },
      { title: 'ping p50', text: ({ pings }) => ms(pings.p50) },
      { title: 'p99', text: ({ pings }) => ms(pings.p99) },
      { title: 'longest', text: ({ pings }) => ms(pings.longest) },
      { title: '', text: ({ pings }) => verdict(pings.p99 < WAIT_MS) },
      { title: 'state p50', text: ({ states }) => ms(states.p50) },
      { title: 'p99', text: ({ states }) => ms(states.p99) },
      { title: 'longest', text: ({ states }) => ms(states.longest) },
      { title: '', text: ({ states }) => verdict(states.p99 < WAIT_MS) },
      { title: 'turn, node', text: ({ turnBefore }) => ms(turnBefore) },
      { title: 'turn behind', text: ({ turnBehind }) => ms(turnBehind) },
      { title: '', text: ({ turnBehind }) => verdict(turnBehind < TURN_MS) }
    ],
    20
  );
}

export function memoryTable(): Table<MemoryFigures> {
  return new Table<MemoryFigures>(
    [
      { title: 'MiB', text: ({ name }) => name },
      { title: 'held', text: ({ heldBytes }) => (heldBytes / MIB).toFixed(1) },
      { title: 'process', text: ({ ownBytes }) => (ownBytes / MIB).toFixed(1) }
    ],
    26
  );
}
