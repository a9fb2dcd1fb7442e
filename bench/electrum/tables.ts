// The figures of a run as text, for people.

import { microseconds as us, Table, type Column } from '../measure/table';
import { BARE } from './cost-peer';
import { ELECTRUMX, FULCRUM } from './peers';
import type { CostFigures } from './cost-figures';
import type { FreshFigures } from './fresh-figures';
import type { BlockFigures, MemoryFigures } from './load';
import type { Mode } from './rows';
import type { LineServer } from './server';
import type { SessionMemory } from './session-memory';

const MIB = 1_024 * 1_024;
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

const times = (value: number | undefined): string => (value === undefined || Number.isNaN(value) ? '-' : value.toFixed(2));
const verdict = (isMet: boolean | undefined): string => (isMet === undefined ? '' : isMet ? 'met' : 'MISSED');

const MODES: readonly Mode[] = ['one', 'many'];
/** The column of pipelined requests is beside that of requests one by one. */
const titleOf = (mode: Mode, title: string): string => (mode === 'one' ? title : 'piped');

/** The first peer is compared with the others. */
export function costTable(peers: readonly string[]): Table<CostFigures> {
  const [ours = '', ...others] = peers;
  const cpu = ({ costs }: CostFigures, peer: string, mode: Mode): number | undefined => costs.get(peer)?.cpu[mode];
  const ratio = (figures: CostFigures, peer: string, mode: Mode): number | undefined => {
    const [one, other] = [cpu(figures, ours, mode), cpu(figures, peer, mode)];
    return one === undefined || other === undefined ? undefined : one / other;
  };
  const isMet = (figures: CostFigures): boolean | undefined => {
    const { goal, way } = figures.row;
    const all = MODES.flatMap((mode) => {
      const [most, is] = [goal[mode], ratio(figures, way === 'http' ? BARE : FULCRUM, mode)];
      return most === undefined || is === undefined ? [] : [is <= most];
    });
    return all.length === 0 ? undefined : all.every(Boolean);
  };
  const columns: Column<CostFigures>[] = [
    { title: 'µs of CPU', text: ({ row }) => row.name },
    { title: 'bytes', text: ({ bytes }) => String(bytes) }
  ];
  for (const peer of peers)
    for (const mode of MODES) columns.push({ title: titleOf(mode, peer), text: (figures) => us(cpu(figures, peer, mode)) });
  for (const peer of others)
    for (const mode of MODES) columns.push({ title: titleOf(mode, `: ${peer}`), text: (figures) => times(ratio(figures, peer, mode)) });
  const goals = ({ row: { goal, modes } }: CostFigures): string => modes.map((mode) => goal[mode] ?? '-').join(' / ');
  columns.push({ title: 'goal', text: goals }, { title: '', text: (figures) => verdict(isMet(figures)) });
  for (const peer of peers.filter((name) => name !== FULCRUM && name !== ELECTRUMX && name !== BARE))
    columns.push({ title: `turn ms, ${peer}`, text: ({ costs }) => costs.get(peer)?.turnMs?.toFixed(1) ?? '-' });
  return new Table(columns, 28);
}

/** First calls of a process, and how many times as much they take as later ones. */
export function freshTable(servers: readonly string[]): Table<FreshFigures> {
  const columns: Column<FreshFigures>[] = [
    { title: 'µs of CPU', text: ({ row }) => row.name },
    { title: 'first', text: ({ amount }) => String(amount) }
  ];
  for (const name of servers) {
    columns.push({ title: name, text: ({ costs }) => us(costs.get(name)?.first) });
    columns.push({ title: 'warmed', text: ({ costs }) => us(costs.get(name)?.warmed) });
    columns.push({ title: 'times', text: ({ costs }) => times(costs.get(name)?.ratio) });
    columns.push({ title: 'rested', text: ({ costs }) => us(costs.get(name)?.rested) });
    columns.push({ title: 'times', text: ({ costs }) => times(costs.get(name)?.restedRatio) });
  }
  const [ours = ''] = servers;
  columns.push({ title: `goal ${FRESH_GOAL}`, text: ({ costs }) => verdict((costs.get(ours)?.ratio ?? 0) <= FRESH_GOAL) });
  return new Table(columns, 28);
}

/** The most that first calls may take, in multiples of later ones. */
const FRESH_GOAL = 1.3;

/** The first start builds the indexes. */
export function buildTable(): Table<LineServer> {
  const of =
    (figure: (starts: NonNullable<LineServer['starts']>) => number) =>
    ({ starts }: LineServer) =>
      starts === undefined ? '-' : figure(starts).toFixed(1);
  return new Table<LineServer>(
    [
      { title: 'seconds', text: ({ name }) => name },
      { title: 'first start', text: of(({ first }) => first.seconds) },
      { title: 'CPU', text: of(({ first }) => first.cpuSeconds) },
      { title: 'next start', text: of(({ last }) => last.seconds) },
      { title: 'CPU', text: of(({ last }) => last.cpuSeconds) },
      { title: 'building', text: of(({ first, last }) => first.seconds - last.seconds) },
      { title: 'CPU', text: of(({ first, last }) => first.cpuSeconds - last.cpuSeconds) },
      { title: 'MB', text: ({ diskBytes }) => (diskBytes / 1e6).toFixed(1) }
    ],
    12
  );
}

export function sessionTable(): Table<SessionMemory> {
  const held = ({ held: figures }: SessionMemory, key: 'bytesPerSession' | 'bytesPerSubscription'): string =>
    figures === undefined ? '-' : figures[key].toFixed(0);
  return new Table<SessionMemory>(
    [
      { title: 'bytes of a', text: ({ name }) => name },
      { title: 'session', text: ({ bytesPerSession }) => bytesPerSession.toFixed(0) },
      { title: 'subscription', text: ({ bytesPerSubscription }) => bytesPerSubscription.toFixed(0) },
      { title: 'session, heap', text: (figures) => held(figures, 'bytesPerSession') },
      { title: 'subscription, heap', text: (figures) => held(figures, 'bytesPerSubscription') },
      { title: 'MiB without', text: ({ ownBytes }) => (ownBytes / MIB).toFixed(0) },
      { title: 'MiB with all', text: ({ fullBytes }) => (fullBytes / MIB).toFixed(0) }
    ],
    12
  );
}

const TOLD_MS = 2_000;
const WAIT_MS = 20;
const TURN_MS = 10;

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
