// Processor time per call of servers with the same chain, measured in turn.

import { percentile } from '../measure/percentile';
import { textOf } from '../serve/failure';
import { cpuMicroseconds } from '../serve/process-figures';
import { EMPTY_ROW, type CallRow } from './calls';
import type { LineProcess } from './line-client';
import type { LineServer, OwnServer } from './line-server';

export interface CallPeer {
  readonly name: string;
  readonly server: LineServer;
  /** The same server if it is a node with the plugin, whose event loop can be watched. */
  readonly own?: OwnServer;
}

export interface CallCost {
  /** Processor time of all threads per call, in microseconds; the median of the rounds. */
  readonly cpu: number;
  /** The time in multiples of an empty method in the same round. */
  readonly ratio: number;
  /** The longest turn of the event loop in the rounds, in milliseconds of processor time of the main thread; undefined: not watched. */
  readonly turnMs: number | undefined;
}

export interface CallFigures {
  readonly name: string;
  /** Length of a reply. */
  readonly bytes: number;
  readonly costs: ReadonlyMap<string, CallCost>;
}

export interface CallOptions {
  readonly peers: readonly CallPeer[];
  readonly rows: readonly CallRow[];
  readonly client: LineProcess;
  readonly rounds: number;
  readonly isWanted: (name: string) => boolean;
  readonly say: (line: string) => void;
}

const CONNECTIONS = 16;
/** Processor time of a round of calls that are repeated, in microseconds. */
const ROUND_CPU = 500_000;
const LEAST_CALLS = 2 * CONNECTIONS;
/** Most bytes of replies in a round. */
const ROUND_BYTES = 300_000_000;
/** Share of the calls made once that comes before the rounds. */
const PREPARED_PART = 1 / 6;

interface Asked {
  readonly cpu: number;
  readonly bytes: number;
}

export async function* callFigures({ peers, rows, client, rounds, isWanted, say }: CallOptions): AsyncGenerator<CallFigures> {
  const ask = async ({ server }: CallPeer, calls: CallRow['calls'], amount: number): Promise<Asked> => {
    const before = cpuMicroseconds(server.pid);
    const { answered, refused, bytes } = await client.run({ type: 'ask', port: server.linePort, calls, connections: CONNECTIONS, amount });
    if (refused > 0) throw new Error(`${refused} of ${amount} calls were refused`);
    return { cpu: (cpuMicroseconds(server.pid) - before) / answered, bytes };
  };
  /** An empty call to compare with, in a round of about the same length. */
  const empty = rows.find(({ name }) => name === EMPTY_ROW);
  if (empty === undefined) return;
  const emptyAmounts = new Map<string, number>();
  for (const peer of peers) emptyAmounts.set(peer.name, await enough((amount) => ask(peer, empty.calls, amount)));
  for (const row of rows) {
    if (!isWanted(row.name)) continue;
    try {
      const tasks = new Map<string, (round: number) => Promise<Asked>>();
      for (const peer of peers) tasks.set(peer.name, await taskOf(row, rounds, (calls, amount) => ask(peer, calls, amount)));
      const measured = new Map(peers.map(({ name }) => [name, { cpu: [] as number[], ratios: [] as number[], turnMs: 0 }]));
      let bytes = 0;
      for (let round = 0; round < rounds; round++)
        for (const peer of peers) {
          const [task, figures] = [tasks.get(peer.name), measured.get(peer.name)];
          if (task === undefined || figures === undefined) continue;
          const { cpu: emptyCpu } = await ask(peer, empty.calls, emptyAmounts.get(peer.name) ?? LEAST_CALLS);
          const watched = peer.own === undefined ? { result: await task(round) } : await peer.own.watch(() => task(round));
          if ('loop' in watched) figures.turnMs = Math.max(figures.turnMs, watched.loop.cpuMs);
          figures.cpu.push(watched.result.cpu);
          figures.ratios.push(watched.result.cpu / emptyCpu);
          ({ bytes } = watched.result);
        }
      const costs = peers.map(({ name, own }): [string, CallCost] => {
        const { cpu = [], ratios = [], turnMs } = measured.get(name) ?? {};
        return [name, { cpu: percentile(cpu, 0.5), ratio: percentile(ratios, 0.5), turnMs: own && turnMs }];
      });
      yield { name: row.name, bytes, costs: new Map(costs) };
    } catch (error) {
      say(`${row.name}: ${textOf(error)}`);
    }
  }
}

/** The calls of a round. */
async function taskOf(
  { calls, isOnce }: CallRow,
  rounds: number,
  ask: (calls: CallRow['calls'], amount: number) => Promise<Asked>
): Promise<(round: number) => Promise<Asked>> {
  if (!isOnce) {
    const amount = await enough((count) => ask(calls, count));
    return () => ask(calls, amount);
  }
  const first = Math.floor(calls.length * PREPARED_PART);
  const share = Math.floor((calls.length - first) / rounds);
  await ask(calls.slice(0, first), first);
  return (round) => ask(calls.slice(first + round * share, first + (round + 1) * share), share);
}

/** Number of calls that makes a round long enough. */
async function enough(ask: (amount: number) => Promise<Asked>): Promise<number> {
  for (let amount = LEAST_CALLS; ; amount *= 4) {
    const { cpu, bytes } = await ask(amount);
    const most = Math.max(LEAST_CALLS, Math.ceil(ROUND_BYTES / bytes));
    if (cpu * amount >= ROUND_CPU / 2 || amount >= most) return Math.min(most, Math.max(LEAST_CALLS, Math.round(ROUND_CPU / cpu)));
  }
}
