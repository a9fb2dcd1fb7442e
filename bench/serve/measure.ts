// Processor time per request, row by row: all servers in turn in every round, so that other load
// on the machine affects all alike; medians over the rounds. Of several processes of one program the
// quickest counts. A server that fails is left out for the rest of the row, and its cell says so.

import { strict as assert } from 'node:assert';
import { percentile } from '../measure/percentile';
import { failureOf, isFailure, textOf, type Failure } from './failure';
import { fetchBody } from './fetch-body';
import { untilAtRest } from './process-figures';
import { askAgainAndAgain, askEachOnce, type Figure, type Task } from './tasks';
import type { LoadClient } from '../clients/load';
import type { Row } from './rows';
import type { BareProcess, ServerProcess } from './server-process';

export interface Servers {
  readonly ours: ServerProcess;
  readonly bare: BareProcess;
  /** The same node without the plugin, for its own interface: the JSON of a block leaves it hundreds of megabytes to collect. */
  readonly own: ServerProcess | Failure;
  /** Another build of the plugin. */
  readonly before?: ServerProcess | Failure;
  readonly bitcoind?: ServerProcess | Failure;
  /** Further processes of the same programs: some take a fifth more than others for the same work as long as they live. */
  readonly further: readonly (readonly [Peer, ServerProcess])[];
}

export type Peer = Exclude<keyof Servers, 'further'>;

/** Medians of the rounds, by server; servers that are not asked are missing. */
export type Cells = Readonly<Partial<Record<Peer, Figure | Failure>>>;

export interface RowFigures {
  readonly row: Row;
  /** Length of our reply to the first question. */
  readonly bytes: number;
  /** Figures for repeated questions. */
  readonly cached: Cells;
  /** Figures for questions that are each asked once. */
  readonly cold: Cells;
}

export interface MeasureOptions {
  readonly client: LoadClient;
  readonly rounds: number;
  /** Gets the reason if a cell has no figure. */
  readonly say: (line: string) => void;
}

type Asked = readonly [Peer, ServerProcess | Failure | undefined];

/** Makes a peer's task for a row. */
type TaskFor = (peer: Peer, server: ServerProcess) => Task;

/** The servers with the same paths as the plugin: their replies are checked. */
const OURS: readonly Peer[] = ['ours', 'before'];

/** How many cold answers are checked. */
const COLD_CHECKS = 100;

export async function measureRow(row: Row, servers: Servers, options: MeasureOptions): Promise<RowFigures> {
  // First, before other requests could bring these answers into memory.
  const cold = await measureCold(row, servers, options);
  const { length: bytes } = await answerAlike(servers.bare, row, servers.ours);
  return { row, bytes, cached: await measureCached(row, servers, bytes, options), cold };
}

function measureCached(
  { name, questions, own, isNew }: Row,
  servers: Servers,
  replyBytes: number,
  options: MeasureOptions
): Promise<Cells> {
  const { client } = options;
  const all = questions.map(({ path }) => path);
  const pathsFor = (peer: Peer): readonly string[] =>
    peer === 'bare' ? all.slice(0, 1) : peer === 'own' && own !== undefined ? [own] : all;
  const { ours, bare, before, own: node, bitcoind, further } = servers;
  const asked: Asked[] = [
    ['ours', ours],
    ['bare', bare],
    ['before', before]
  ];
  if (own !== undefined) asked.push(['own', node]);
  if (isNew !== true) asked.push(['bitcoind', bitcoind]);
  return measureAll(name, [...asked, ...further], options, (peer, server) =>
    askAgainAndAgain({ server, client, paths: pathsFor(peer), checked: OURS.includes(peer) ? questions : [] }, replyBytes)
  );
}

/** The bare server has no cold answers, and bcoin's own interface caches none. */
async function measureCold({ name, cold }: Row, { ours, before, bitcoind, further }: Servers, options: MeasureOptions): Promise<Cells> {
  if (cold === undefined) return {};
  const questions = cold.questions();
  const paths = questions.map(({ path }) => path);
  const everySo = Math.ceil(questions.length / COLD_CHECKS);
  const some = questions.filter((_, i) => i % everySo === 0);
  return measureAll(`${name}, cold`, [['ours', ours], ['before', before], ['bitcoind', bitcoind], ...further], options, (peer, server) =>
    askEachOnce({ server, client: options.client, paths, checked: OURS.includes(peer) ? some : [] }, options.rounds)
  );
}

/** All servers in turn in every round. */
async function measureAll(name: string, servers: readonly Asked[], { rounds, say }: MeasureOptions, taskFor: TaskFor): Promise<Cells> {
  const cells: Partial<Record<Peer, Figure | Failure>> = {};
  const asked: { readonly peer: Peer; readonly server: ServerProcess; readonly task: Task; readonly figures: Figure[] }[] = [];
  for (const [peer, server] of servers) {
    if (isFailure(server)) cells[peer] = server;
    else if (server !== undefined) asked.push({ peer, server, task: taskFor(peer, server), figures: [] });
  }
  const everybody = async (first: number, step: (one: (typeof asked)[number]) => Promise<void>): Promise<void> => {
    for (const one of [...asked.slice(first), ...asked.slice(0, first)]) {
      const { peer, server } = one;
      if (isFailure(cells[peer])) continue;
      try {
        await step(one);
      } catch (error) {
        cells[peer] = failureOf(error);
        say(`${name}: ${peer}: ${textOf(error)}`);
        // The server may still be busy with work after the last reply.
        await untilAtRest(server.pid).catch(() => undefined);
      }
    }
  };
  await everybody(0, ({ task }) => task.prepare());
  for (let round = 0; round < rounds; round++)
    // The first server finds cold processor caches, so each round begins with another one.
    await everybody(round % asked.length, async ({ task, figures }) => {
      figures.push(await task.round(round));
    });
  await everybody(0, async ({ peer, task, figures }) => {
    await task.finish();
    const known = cells[peer];
    const figure = median(figures);
    if (known === undefined || isFailure(known) || figure.cpu < known.cpu) cells[peer] = figure;
  });
  return cells;
}

/** Makes the bare server reply like the plugin to the first question of the row. Returns the body. */
export async function answerAlike(bare: BareProcess, { name, questions: [first] }: Row, ours: ServerProcess): Promise<Buffer> {
  assert.ok(first, `${name}: expected something to ask`);
  const { path, contentType } = first;
  const { body } = await fetchBody(ours.port, path);
  await bare.answer({ path, contentType, body });
  return body;
}

function median(figures: readonly Figure[]): Figure {
  const of = (key: keyof Figure): number =>
    percentile(
      figures.map((figure) => figure[key]),
      0.5
    );
  return { cpu: of('cpu'), p50: of('p50'), p99: of('p99') };
}
