// Processor time per request, row by row: everybody in turn in every round, so that what else
// the machine does hits all alike; medians over the rounds.

import { strict as assert } from 'node:assert';
import { percentile } from '../measure/percentile';
import { fetchBody } from './fetch-body';
import { cpuMicroseconds } from './process-figures';
import type { LoadClient, LoadResult } from '../clients/load';
import type { Row } from './rows';
import type { BareProcess, ServerProcess } from './server-process';

export interface Servers {
  readonly ours: ServerProcess;
  readonly bare: BareProcess;
  /** The same node without the plugin, for its own interface: the JSON of a block leaves it hundreds of megabytes to collect. */
  readonly own: ServerProcess;
  /** Another build of ours. */
  readonly before?: ServerProcess;
  readonly bitcoind?: ServerProcess;
}

/** Medians of the rounds, in microseconds of processor time and milliseconds of waiting. */
export interface Figure {
  readonly cpu: number;
  readonly p50: number;
  readonly p99: number;
}

export interface RowFigures {
  readonly row: Row;
  readonly bytes: number;
  readonly ours: Figure;
  readonly bare: Figure;
  readonly own?: Figure;
  readonly before?: Figure;
  readonly bitcoind?: Figure;
}

interface Task {
  readonly name: 'ours' | 'bare' | 'own' | 'before' | 'bitcoind';
  readonly server: ServerProcess;
  readonly paths: readonly string[];
  /** Of replies, in a round. */
  readonly mostRequests: number;
}

const CONNECTIONS = 16;
/** Processor time of a round, in microseconds; on a busy machine it takes longer than that. */
const ROUND_CPU = 1_000_000;
const LEAST_REQUESTS = 2 * CONNECTIONS;
/** Bytes of replies in a round: the client takes longer to read them than the server to send them. */
const ROUND_BYTES = 500_000_000;

/** @throws AssertionError when an answer is wrong. */
export async function measureRow(row: Row, servers: Servers, client: LoadClient, rounds: number): Promise<RowFigures> {
  await checkAnswers(row, servers);
  const body = await answerAlike(servers.bare, row, servers.ours);
  const tasks = tasksOf(row, servers, Math.max(LEAST_REQUESTS, Math.ceil(ROUND_BYTES / body.length)));
  const figures = new Map<string, Figure[]>(tasks.map(({ name }) => [name, []]));
  const amounts = new Map<string, number>();
  for (const task of tasks) amounts.set(task.name, await warmUp(task, client));
  for (let round = 0; round < rounds; round++)
    // Whoever comes first finds everything cold: another one in each round.
    for (const task of [...tasks.slice(round % tasks.length), ...tasks.slice(0, round % tasks.length)])
      figures.get(task.name)?.push(await time(task, client, amounts.get(task.name) ?? LEAST_REQUESTS));
  const medians = Object.fromEntries([...figures].map(([name, list]) => [name, median(list)])) as Pick<RowFigures, Task['name']>;
  return { row, bytes: body.length, ...medians };
}

/** From now on the bare server replies as ours does to the first question of the row. Gives the body. */
export async function answerAlike(bare: BareProcess, { name, questions: [first] }: Row, ours: ServerProcess): Promise<Buffer> {
  assert.ok(first, `${name}: expected something to ask`);
  const { path, contentType } = first;
  const { body } = await fetchBody(ours.port, path);
  await bare.answer({ path, contentType, body });
  return body;
}

/** All that will be asked is asked once before. */
async function checkAnswers({ name, questions }: Row, { ours, before }: Servers): Promise<void> {
  for (const server of before === undefined ? [ours] : [ours, before])
    for (const { path, contentType, check } of questions) {
      const reply = await fetchBody(server.port, path);
      assert.equal(reply.status, 200, `${name}: ${path}`);
      assert.equal(reply.contentType, contentType, `${name}: ${path}`);
      check(reply.body);
    }
}

function tasksOf({ questions, own }: Row, { ours, bare, own: node, before, bitcoind }: Servers, mostRequests: number): Task[] {
  const paths = questions.map(({ path }) => path);
  return [
    { name: 'ours', server: ours, paths, mostRequests },
    ...before ? [{ name: 'before', server: before, paths, mostRequests } as const] : [],
    { name: 'bare', server: bare, paths: paths.slice(0, 1), mostRequests },
    ...own === undefined ? [] : [{ name: 'own', server: node, paths: [own], mostRequests } as const],
    ...bitcoind ? [{ name: 'bitcoind', server: bitcoind, paths, mostRequests } as const] : []
  ];
}

/** How many requests a round takes. Asks until the server's code is compiled as it will be. */
async function warmUp(task: Task, client: LoadClient): Promise<number> {
  for (let amount = LEAST_REQUESTS; ; amount = Math.min(amount * 4, task.mostRequests)) {
    const { cpu } = await time(task, client, amount);
    if (cpu * amount >= ROUND_CPU / 2 || amount >= task.mostRequests)
      return Math.min(task.mostRequests, Math.max(LEAST_REQUESTS, Math.round(ROUND_CPU / cpu)));
  }
}

async function time(task: Task, client: LoadClient, amount: number): Promise<Figure> {
  const before = cpuMicroseconds(task.server.pid);
  const { answered, p50, p99 } = await run(client, { ...task, amount });
  return { cpu: (cpuMicroseconds(task.server.pid) - before) / answered, p50, p99 };
}

async function run(client: LoadClient, { server, paths, amount }: Pick<Task, 'server' | 'paths'> & { readonly amount: number }): Promise<LoadResult> {
  const result = await client.run({ port: server.port, paths, connections: CONNECTIONS, amount });
  assert.deepEqual({ refused: result.refused, failed: result.failed }, { refused: 0, failed: 0 }, `${paths[0] ?? ''}: not everybody was answered`);
  return result;
}

function median(figures: readonly Figure[]): Figure {
  const of = (key: keyof Figure): number => percentile(figures.map((figure) => figure[key]), 0.5);
  return { cpu: of('cpu'), p50: of('p50'), p99: of('p99') };
}
