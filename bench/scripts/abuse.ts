// One script with an excessive number of transactions, asked for by 64 connections in every way, while other clients keep asking for small
// things: how long these wait, with and without that load, in turn.

import { fetchBody } from '../serve/fetch-body';
import { ownMemory, withPeakMemory } from '../measure/process-load';
import type { LoadClient, LoadResult } from '../clients/load';
import type { LoopFigures, WatchedServer } from './watched-server';

const ABUSERS = 64;
const SMALL_CLIENTS = 4;
const SECONDS = 4;

export interface AbuseFigures {
  readonly name: string;
  /** The answer to the first of the requests. */
  readonly status: number;
  readonly text: string;
  readonly abuse: LoadResult;
  readonly small: LoadResult;
  /** The same right before, without other clients. */
  readonly alone: LoadResult;
  readonly loop: LoopFigures;
  readonly aloneLoop: LoopFigures;
  readonly bytesBefore: number;
  readonly peakBytes: number;
}

/** Ways to ask for a script, by name. */
export function waysOfAbuse({ chain: { huge, long, coins } }: WatchedServer): ReadonlyMap<string, readonly string[]> {
  if (huge === undefined) throw new Error('expected a chain with a huge script');
  const of = (hash: string): string => `/api/scripthash/${hash}`;
  const cursors = huge.txids.filter((_, i) => i % 7 === 0);
  const ways = new Map<string, readonly string[]>([
    ['stats', [of(huge.hash)]],
    ['first page', [`${of(huge.hash)}/txs`]],
    ['pages', cursors.map((txid) => `${of(huge.hash)}/txs/chain/${txid}`)],
    ['hundred at once', cursors.map((txid) => `${of(huge.hash)}/txs?max_txs=100&after_txid=${txid}`)],
    ['utxo', [`${of(huge.hash)}/utxo`]],
    ['utxo of 100,000 rows', [`${of(long.hash)}/utxo`]],
    ['utxo of 500', coins.map(({ hash }) => `${of(hash)}/utxo`)],
    ['outspend', huge.txids.filter((_, i) => i % 5 === 0).map((txid) => `/api/tx/${txid}/outspend/0`)],
    ['merkle-proof', huge.txids.filter((_, i) => i % 5 === 1).map((txid) => `/api/tx/${txid}/merkle-proof`)]
  ]);
  const all = [...ways.values()].flatMap((paths) => paths.slice(-14));
  return ways.set('all of them', all);
}

/** The requests of each connection, made of all of these, before it begins. */
const MOST_PATHS = 128;

export async function measureAbuse(
  server: WatchedServer,
  name: string,
  paths: readonly string[],
  [one, other]: readonly [LoadClient, LoadClient]
): Promise<AbuseFigures> {
  const { port, pid } = server;
  const small = (): Promise<LoadResult> =>
    other.run({ port, paths: smallPaths(server), connections: SMALL_CLIENTS, limit: { seconds: SECONDS } });
  const { result: alone, loop: aloneLoop } = await server.watch(small);
  const bytesBefore = ownMemory(pid);
  const {
    result: { result, loop },
    peakBytes
  } = await withPeakMemory(
    () =>
      server.watch(() =>
        Promise.all([one.run({ port, paths: paths.slice(-MOST_PATHS), connections: ABUSERS, limit: { seconds: SECONDS } }), small()])
      ),
    pid
  );
  const { status, body } = await fetchBody(port, paths[0] ?? '');
  return {
    name,
    status,
    text: status === 200 ? '' : body.toString(),
    abuse: result[0],
    small: result[1],
    alone,
    loop,
    aloneLoop,
    bytesBefore,
    peakBytes
  };
}

/** Transactions, coins and states, each of which is asked for repeatedly. */
function smallPaths({ chain: { long, single } }: WatchedServer): readonly string[] {
  const txids = long.txids.slice(0, 20);
  return [
    '/rest/chaininfo.json',
    ...txids.map((txid) => `/rest/tx/${txid}.json`),
    ...single.slice(0, 20).map(({ txids: [txid = ''] }) => `/rest/getutxos/${txid}-1.json`)
  ];
}
