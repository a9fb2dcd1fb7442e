// The two ways in which a server is asked over 16 connections: the same questions repeatedly,
// and many questions once each.

import { strict as assert } from 'node:assert';
import { UnansweredError } from './failure';
import { fetchBody } from './fetch-body';
import { cpuMicroseconds } from './process-figures';
import type { LoadClient, LoadOrder } from '../clients/load';
import type { Question } from './questions';
import type { ServerProcess } from './server-process';

/** The cost of one request: microseconds of processor time and milliseconds of waiting. */
export interface Figure {
  readonly cpu: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Task {
  /** Runs before the first round, until the server's code is optimized. */
  prepare(): Promise<void>;
  /** `round`: counted from 0. */
  round(round: number): Promise<Figure>;
  /** Runs after the last round. */
  finish(): Promise<void>;
}

export interface TaskOptions {
  readonly server: ServerProcess;
  readonly client: LoadClient;
  readonly paths: readonly string[];
  /** The paths whose answers are checked. */
  readonly checked: readonly Question[];
}

const CONNECTIONS = 16;
/** Processor time of a round, in microseconds; on a busy machine it takes longer than that. */
const ROUND_CPU = 1_000_000;
const LEAST_REQUESTS = 2 * CONNECTIONS;
/** Bytes of replies in a round: the client takes longer to read them than the server to send them. */
const ROUND_BYTES = 500_000_000;

/** `replyBytes`: approximate length of a reply. */
export function askAgainAndAgain({ server, client, paths, checked }: TaskOptions, replyBytes: number): Task {
  const mostRequests = Math.max(LEAST_REQUESTS, Math.ceil(ROUND_BYTES / replyBytes));
  const ask = (amount: number): Promise<Figure> => time(server, client, { paths, limit: { amount } });
  let amount = LEAST_REQUESTS;
  return {
    prepare: async () => {
      await checkAnswers(checked, server);
      for (; ; amount = Math.min(amount * 4, mostRequests)) {
        const { cpu } = await ask(amount);
        if (cpu * amount < ROUND_CPU / 2 && amount < mostRequests) continue;
        amount = Math.min(mostRequests, Math.max(LEAST_REQUESTS, Math.round(ROUND_CPU / cpu)));
        return;
      }
    },
    round: () => ask(amount),
    finish: () => Promise.resolve()
  };
}

/** Hashes in capitals, and heights after a zero: the answer is the same, but no cached reply is found by such a path. */
function writtenOtherwise(path: string): string {
  return path.replace(/[0-9a-f]{64}/g, (hash) => hash.toUpperCase()).replace(/\/(?=\d+\.)/, '/0');
}

/** Walks over the paths: each round has its share, none is asked for twice. Before the rounds all are asked for in another spelling. */
export function askEachOnce({ server, client, paths, checked }: TaskOptions, rounds: number): Task {
  const share = Math.floor(paths.length / rounds);
  const walk = (from: number, to: number): Promise<Figure> =>
    time(server, client, { paths: paths.slice(from, to), limit: 'each path once' });
  return {
    prepare: async () => {
      await time(server, client, { paths: paths.map(writtenOtherwise), limit: 'each path once' });
    },
    round: (round) => walk(round * share, (round + 1) * share),
    // Afterwards: otherwise they would not be cold.
    finish: () => checkAnswers(checked, server)
  };
}

/** @throws AssertionError for a wrong answer */
async function checkAnswers(questions: readonly Question[], server: ServerProcess): Promise<void> {
  for (const { path, contentType, check } of questions) {
    const reply = await fetchBody(server.port, path);
    assert.equal(reply.status, 200, path);
    assert.equal(reply.contentType, contentType, path);
    check(reply.body);
  }
}

/** @throws UnansweredError */
async function time({ pid, port }: ServerProcess, client: LoadClient, order: Pick<LoadOrder, 'paths' | 'limit'>): Promise<Figure> {
  const before = cpuMicroseconds(pid);
  const connections = order.limit === 'each path once' ? Math.min(CONNECTIONS, order.paths.length) : CONNECTIONS;
  const result = await client.run({ port, connections, ...order });
  if (result.refused + result.failed > 0) throw new UnansweredError(result);
  return { cpu: (cpuMicroseconds(pid) - before) / result.answered, p50: result.p50, p99: result.p99 };
}
