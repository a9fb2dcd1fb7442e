// Processor time per call of servers with the same chain, which take turns in each round.

import { percentile } from '../measure/percentile';
import { textOf } from '../serve/failure';
import { checkAlike } from './likeness';
import type { AskProcess, Request } from './ask-client';
import type { Mode, Row } from './rows';
import type { CostPeer } from './cost-peer';

export interface Cost {
  /** Processor time of all threads per call, in microseconds; the median of the rounds. */
  readonly cpu: Readonly<Partial<Record<Mode, number>>>;
  /** The longest turn of the event loop, in milliseconds of processor time of the main thread; undefined: not watched. */
  readonly turnMs: number | undefined;
}

export interface CostFigures {
  readonly row: Row;
  /** Length of a reply. */
  readonly bytes: number;
  /** By the names of the peers. */
  readonly costs: ReadonlyMap<string, Cost>;
}

export interface CostOptions {
  readonly peers: readonly CostPeer[];
  readonly rows: readonly Row[];
  readonly client: AskProcess;
  readonly rounds: number;
  readonly say: (line: string) => void;
}

const CONNECTIONS = 16;
/** Requests without a reply on each connection. */
const OUTSTANDING: Readonly<Record<Mode, number>> = { one: 1, many: 32 };
/** Processor time of a round of requests that are repeated, in microseconds. */
const ROUND_CPU = 500_000;
/** How many times as many requests as in a round come before the rounds, if each is made once. */
const PREPARING_SHARES = 2;
const LEAST_REQUESTS = 2 * CONNECTIONS;
/** Most bytes of replies in a round. */
const ROUND_BYTES = 300_000_000;

interface AskedCost {
  /** Microseconds for a call. */
  readonly cpu: number;
  readonly bytes: number;
}

/** @throws Error for a refused request; AssertionError for answers that differ */
export async function* costFigures(options: CostOptions): AsyncGenerator<CostFigures> {
  for (const row of options.rows) {
    try {
      yield await figuresOf(row, options);
    } catch (error) {
      options.say(`${row.name}: ${textOf(error)}`);
      process.exitCode = 1;
    }
  }
}

async function figuresOf(row: Row, { peers, client, rounds }: CostOptions): Promise<CostFigures> {
  const runs = new Map<CostPeer, Run>();
  for (const peer of peers) runs.set(peer, await Run.prepare(await peer.rowFor(row), peer, client, rounds));
  for (let round = 0; round < rounds; round++) for (const mode of row.modes) for (const run of runs.values()) await run.round(mode);
  for (const run of runs.values()) await run.watched();
  if (row.isAlike) await checkAlike(row, peers, client);
  const costs = [...runs].map(([{ name }, run]): [string, Cost] => [name, run.cost]);
  return { row, bytes: [...runs.values()][0]?.bytes ?? 0, costs: new Map(costs) };
}

/** A row with one server. */
class Run {
  bytes = 0;
  readonly #row: Row;
  readonly #peer: CostPeer;
  readonly #client: AskProcess;
  /** Number of requests in a round. */
  readonly #amounts = new Map<Mode, number>();
  readonly #measured = new Map<Mode, number[]>();
  /** Requests that have been made, of those that are made once. */
  #made = 0;
  #turnMs: number | undefined;

  private constructor(row: Row, peer: CostPeer, client: AskProcess) {
    this.#row = row;
    this.#peer = peer;
    this.#client = client;
  }

  /** Makes requests that do not count, until the server's code is optimized. */
  static async prepare(row: Row, peer: CostPeer, client: AskProcess, rounds: number): Promise<Run> {
    const run = new Run(row, peer, client);
    // The last share is for watching.
    const share = Math.floor(row.requests.length / (PREPARING_SHARES + rounds * row.modes.length + 1));
    for (const mode of row.modes) run.#amounts.set(mode, row.isOnce ? share : await run.#enough(mode));
    if (row.isOnce) await run.#ask(row.modes[0] ?? 'one', PREPARING_SHARES * share);
    return run;
  }

  async round(mode: Mode): Promise<void> {
    if (!this.#row.modes.includes(mode)) return;
    const { cpu, bytes } = await this.#ask(mode, this.#amounts.get(mode) ?? LEAST_REQUESTS);
    this.#measured.set(mode, [...(this.#measured.get(mode) ?? []), cpu]);
    this.bytes = bytes;
  }

  /** A round that is not measured, since watching takes processor time as well. */
  async watched(): Promise<void> {
    const [mode = 'one'] = this.#row.modes;
    this.#turnMs = await this.#peer.longestTurn(() => this.#ask(mode, this.#amounts.get(mode) ?? LEAST_REQUESTS));
  }

  get cost(): Cost {
    const cpu = Object.fromEntries([...this.#measured].map(([mode, all]) => [mode, percentile(all, 0.5)]));
    return { cpu, turnMs: this.#turnMs };
  }

  async #ask(mode: Mode, amount: number): Promise<AskedCost> {
    const { requests, isOnce } = this.#row;
    const from = isOnce ? this.#made : 0;
    if (isOnce) this.#made += amount;
    return askCost({
      peer: this.#peer,
      client: this.#client,
      row: this.#row,
      requests: isOnce ? requests.slice(from, from + amount) : requests,
      amount,
      mode
    });
  }

  /** Number of requests that makes a round long enough. */
  async #enough(mode: Mode): Promise<number> {
    for (let amount = LEAST_REQUESTS; ; amount *= 4) {
      const { cpu, bytes } = await this.#ask(mode, amount);
      const cpuOfRequest = cpu * this.#row.calls;
      const most = Math.max(LEAST_REQUESTS, Math.ceil(ROUND_BYTES / bytes));
      if (cpuOfRequest * amount >= ROUND_CPU / 2 || amount >= most)
        return Math.min(most, Math.max(LEAST_REQUESTS, Math.round(ROUND_CPU / cpuOfRequest)));
    }
  }
}

export interface CostOrder {
  readonly peer: CostPeer;
  readonly client: AskProcess;
  readonly row: Row;
  readonly requests: readonly Request[];
  readonly amount: number;
  readonly mode: Mode;
}

/** @throws Error for a refused request */
export async function askCost({ peer, client, row, requests, amount, mode }: CostOrder): Promise<AskedCost> {
  const { way, calls } = row;
  const port = peer.port(way);
  if (port === undefined) throw new Error(`expected ${peer.name} to have a port for this`);
  let cpu = (): number => 0;
  const order = { port, way, requests, amount, connections: CONNECTIONS, outstanding: OUTSTANDING[mode] };
  const { refused, bytes } = await client.ask(order, () => {
    cpu = peer.countCpu();
  });
  if (refused > 0) throw new Error(`${peer.name} refused ${refused} of ${amount} requests`);
  return { cpu: cpu() / (amount * calls), bytes };
}
