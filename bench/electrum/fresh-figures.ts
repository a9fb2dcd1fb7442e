// What the first calls of a process cost that has just started, compared with later calls of the same process, and with as many that come after
// as long a rest as the first ones.

import { percentile } from '../measure/percentile';
import { textOf } from '../serve/failure';
import { askCost } from './cost-figures';
import { serverPeer } from './cost-peer';
import type { AskProcess } from './ask-client';
import type { Row } from './rows';
import type { LineServer } from './server';

/** Microseconds of processor time per call. */
export interface FreshCost {
  readonly first: number;
  readonly warmed: number;
  readonly ratio: number;
  /** As many calls as the first ones, after a rest. */
  readonly rested: number;
  readonly restedRatio: number;
}

export interface FreshFigures {
  readonly row: Row;
  /** Number of requests that are the first ones. */
  readonly amount: number;
  /** By the names of the servers; medians of the rounds. */
  readonly costs: ReadonlyMap<string, FreshCost>;
}

export interface FreshOptions {
  readonly servers: readonly LineServer[];
  readonly rows: readonly Row[];
  readonly client: AskProcess;
  readonly rounds: number;
  readonly say: (line: string) => void;
}

/** Ten on each connection. */
const MOST_FIRST = 160;
const FIRST_SHARE = 1 / 8;
/** Share of the requests that comes before those that are measured as warmed. */
const WARMING_SHARE = 5 / 8;

/** Each server starts anew for each row in each round; the client has asked another process before, so that only the server is new. */
export async function* freshFigures({ servers, rows, client, rounds, say }: FreshOptions): AsyncGenerator<FreshFigures> {
  for (const row of rows.filter(({ isFresh }) => isFresh)) {
    const { requests } = row;
    const amount = Math.min(MOST_FIRST, Math.floor(requests.length * FIRST_SHARE));
    const warming = Math.floor(requests.length * WARMING_SHARE);
    const asked = servers.filter((server) => serverPeer(server).port(row.way) !== undefined);
    const measured = new Map<string, FreshCost[]>(asked.map(({ name }) => [name, []]));
    try {
      for (let round = 0; round < rounds; round++)
        for (const server of asked) {
          const peer = serverPeer(server);
          const [mode = 'one'] = (await peer.rowFor(row)).modes;
          const ask = async (from: number, to: number): Promise<number> =>
            (await askCost({ peer, client, row, requests: requests.slice(from, to), amount: to - from, mode })).cpu;
          if (round === 0) await ask(0, amount + warming);
          await server.restart();
          const first = await ask(0, amount);
          await ask(amount, amount + warming);
          const warmed = await ask(amount + warming, requests.length - amount);
          await server.rest();
          const rested = await ask(requests.length - amount, requests.length);
          measured.get(server.name)?.push({ first, warmed, ratio: first / warmed, rested, restedRatio: first / rested });
        }
      const costs = [...measured].map(([name, all]): [string, FreshCost] => [name, medianOf(all)]);
      yield { row, amount, costs: new Map(costs) };
    } catch (error) {
      say(`${row.name}: ${textOf(error)}`);
      process.exitCode = 1;
    }
  }
}

function medianOf(all: readonly FreshCost[]): FreshCost {
  const of = (key: keyof FreshCost): number =>
    percentile(
      all.map((cost) => cost[key]),
      0.5
    );
  return { first: of('first'), warmed: of('warmed'), ratio: of('ratio'), rested: of('rested'), restedRatio: of('restedRatio') };
}
