// Processor time per request of nodes with a small and a large index by script, in turn.

import { percentile } from '../measure/percentile';
import { textOf } from '../serve/failure';
import { fetchBody } from '../serve/fetch-body';
import { askAgainAndAgain, askEachOnce, type Figure, type Task } from '../serve/tasks';
import { requestRows, type RequestRow } from './requests';
import type { LoadClient } from '../clients/load';
import type { LoopFigures, WatchedServer } from './watched-server';

export interface Peer {
  readonly name: string;
  readonly server: WatchedServer;
}

export interface PeerFigures {
  readonly peer: string;
  /** Medians of the rounds, microseconds. */
  readonly hot?: number;
  readonly cold?: number;
  /** Of all rounds. */
  readonly loop: LongestTurn;
}

export interface RequestFigures {
  readonly row: RequestRow;
  /** Of a reply. */
  readonly bytes: number;
  readonly peers: readonly PeerFigures[];
}

export interface RequestOptions {
  readonly peers: readonly Peer[];
  readonly client: LoadClient;
  readonly rounds: number;
  readonly isWanted: (name: string) => boolean;
  readonly say: (line: string) => void;
}

type LongestTurn = Pick<LoopFigures, 'ms' | 'cpuMs'>;

interface Measured {
  readonly figures: Figure[];
  loop: LongestTurn;
}

const NOTHING: LongestTurn = { ms: 0, cpuMs: 0 };

export async function* requestFigures(options: RequestOptions): AsyncGenerator<RequestFigures> {
  const { peers, isWanted, rounds, client, say } = options;
  const [first] = peers;
  if (first === undefined) return;
  const rowsOf = new Map(peers.map(({ name, server }) => [name, requestRows(server.chain)]));
  for (const [i, row] of (rowsOf.get(first.name) ?? []).entries()) {
    if (!isWanted(row.name)) continue;
    try {
      const rowOf = ({ name }: Peer): RequestRow => rowsOf.get(name)?.[i] ?? row;
      // While nothing is in memory.
      const cold =
        row.cold &&
        (await inTurn(peers, rounds, (peer) =>
          askEachOnce({ server: peer.server, client, paths: rowOf(peer).cold ?? [], checked: [] }, rounds)
        ));
      const path = row.hot[0] ?? row.cold?.[0] ?? '';
      const { body } = await fetchBody(first.server.port, path);
      const hot =
        row.hot.length > 0
          ? await inTurn(peers, rounds, (peer) =>
              askAgainAndAgain({ server: peer.server, client, paths: rowOf(peer).hot, checked: [] }, body.length)
            )
          : undefined;
      yield {
        row,
        bytes: body.length,
        peers: peers.map(({ name }) => ({
          peer: name,
          ...(hot && { hot: medianOf(hot.get(name)) }),
          ...(cold && { cold: medianOf(cold.get(name)) }),
          loop: longer(hot?.get(name)?.loop ?? NOTHING, cold?.get(name)?.loop ?? NOTHING)
        }))
      };
    } catch (error) {
      say(`${row.name}: ${textOf(error)}`);
    }
  }
}

async function inTurn(peers: readonly Peer[], rounds: number, taskOf: (peer: Peer) => Task): Promise<Map<string, Measured>> {
  const tasks = peers.map((peer) => {
    const measured: Measured = { figures: [], loop: NOTHING };
    return { peer, task: taskOf(peer), measured };
  });
  for (const { task } of tasks) await task.prepare();
  for (let round = 0; round < rounds; round++)
    for (const { peer, task, measured } of tasks) {
      const { result, loop } = await peer.server.watch(() => task.round(round));
      measured.figures.push(result);
      measured.loop = longer(measured.loop, loop);
    }
  return new Map(tasks.map(({ peer, measured }) => [peer.name, measured]));
}

const medianOf = (measured: Measured | undefined): number => percentile(measured?.figures.map(({ cpu }) => cpu) ?? [], 0.5);

const longer = (a: LongestTurn, b: LongestTurn): LongestTurn => ({ ms: Math.max(a.ms, b.ms), cpuMs: Math.max(a.cpuMs, b.cpuMs) });
