// Serving under load: many connections, small requests beside whole blocks as JSON, and the
// memory that these take.

import { fetchBody } from './fetch-body';
import { ownMemory, withPeakMemory } from '../measure/process-load';
import type { LoadClient, LoadResult } from '../clients/load';
import type { Row } from './rows';
import type { ServerProcess } from './server-process';

const CROWD = 64;
const CROWD_SECONDS = 3;
const HEAVY_CLIENTS = 8;
const SMALL_CLIENTS = 4;
const MIXED_SECONDS = 10;

/** Waits with 64 connections, in milliseconds. */
export async function measureCrowd(questions: Row['questions'], server: ServerProcess, client: LoadClient): Promise<LoadResult> {
  return client.run({ port: server.port, paths: questions.map(({ path }) => path), connections: CROWD, limit: { seconds: CROWD_SECONDS } });
}

export interface MixedFigures {
  readonly small: LoadResult;
  readonly blocksPerSecond: number;
  readonly refusedBlocks: number;
  /** Peak memory of the node with the plugin; and of the node alone, after the same requests to its own interface. */
  readonly peakBytes: number;
  readonly aloneBytes: number;
}

export interface MixedOrder {
  readonly server: ServerProcess;
  /** The same node without the plugin. */
  readonly alone: ServerProcess;
  readonly blocks: Row;
  readonly small: Row;
  readonly clients: readonly [LoadClient, LoadClient];
}

export async function measureMixed({ server, alone, blocks, small, clients: [one, other] }: MixedOrder): Promise<MixedFigures> {
  const order = (row: Row, connections: number): Parameters<LoadClient['run']>[0] => ({
    port: server.port,
    paths: row.questions.map(({ path }) => path),
    connections,
    limit: { seconds: MIXED_SECONDS }
  });
  const {
    result: [heavy, quick],
    peakBytes
  } = await withPeakMemory(() => Promise.all([one.run(order(blocks, HEAVY_CLIENTS)), other.run(order(small, SMALL_CLIENTS))]), server.pid);
  await fetchBody(alone.port, '/');
  return {
    small: quick,
    blocksPerSecond: heavy.answered / heavy.seconds,
    refusedBlocks: heavy.refused + heavy.failed,
    peakBytes,
    aloneBytes: ownMemory(alone.pid)
  };
}
