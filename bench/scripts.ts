// npm run bench:scripts: the cost of the index by script, and of answers from it (bench/README.md).
//   --only TEXT      parts or rows whose names begin like this; more than once if wanted
//   --rows N         rows of the store that is filled and followed (default 2,000,000)
//   --huge N         transactions of the largest script (default 1,050,000)
//   --rounds N       default 3
//   --chain NAME     small or large: requests on this one only
//   --before DIR     another built checkout, measured in the same rounds
//   --json FILE      the numbers, for keeping

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LoadClient } from './clients/load';
import { describeMachine } from './machine';
import { describeLoad, cleanUpAndSaveAtExit } from './measure/run';
import { measureAbuse, waysOfAbuse } from './scripts/abuse';
import { largeTransactionFigures } from './scripts/large-transactions';
import { popularChains } from './scripts/popular-chain';
import { requestFigures, type Peer } from './scripts/request-figures';
import { storeFigures } from './scripts/store-figures';
import { abuseTable, largeTransactionTable, requestTable, storeTable } from './scripts/tables';
import { startWatched } from './scripts/watched-server';

const say = (line: string): void => {
  console.error(line);
};

interface Options {
  readonly isWanted: (name: string) => boolean;
  readonly huge: number;
  readonly rows: number;
  readonly rounds: number;
  readonly before: string | undefined;
  readonly chain: string | undefined;
}

/** Values of `--only` beside the names of rows of requests. */
const PARTS = ['store', 'requests', 'abuse', 'pool'];

const isPart = (only: readonly string[]): boolean => only.length > 0 && only.every((name) => PARTS.includes(name));

type Results = Record<string, unknown[]>;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      rows: { type: 'string', default: '2000000' },
      huge: { type: 'string', default: '1050000' },
      rounds: { type: 'string', default: '3' },
      before: { type: 'string' },
      chain: { type: 'string' },
      json: { type: 'string' }
    }
  });
  const options: Options = {
    isWanted: (name) => values.only?.some((start) => name.startsWith(start)) ?? true,
    huge: Number(values.huge),
    rows: Number(values.rows),
    rounds: Number(values.rounds),
    before: values.before,
    chain: values.chain
  };
  const results: Results = {};
  cleanUpAndSaveAtExit(values.json, results);
  console.log(describeMachine());
  console.log(describeLoad('at the start'));
  if (options.isWanted('store')) await store(options, results);
  if (options.isWanted('requests') || !isPart(values.only ?? [])) await requests(options, results);
  if (options.isWanted('abuse')) await abuse(options, results);
  if (options.isWanted('pool')) await pool(options, results);
}

async function store({ rows }: Options, results: Results): Promise<void> {
  const table = storeTable();
  console.log(`\n${table.head()}`);
  for await (const figures of storeFigures(rows)) {
    (results['store'] ??= []).push(figures);
    console.log(table.line(figures));
  }
}

/** Nodes with the small and the large chain. */
async function requests({ isWanted, huge, rounds, before, chain: only }: Options, results: Results): Promise<void> {
  const { small, large } = await popularChains(huge, say);
  const isAnyWanted = (name: string): boolean => isWanted('requests') || isWanted(name);
  const peers: Peer[] = [];
  const client = new LoadClient();
  try {
    say('starting the servers');
    for (const [name, chain] of Object.entries({ small, large }))
      if (only === undefined || only === name) peers.push({ name, server: await startWatched(chain, name, true) });
    if (before !== undefined)
      peers.push({ name: 'before', server: await startWatched(only === 'small' ? small : large, 'before', true, resolve(before)) });
    const table = requestTable(peers.map(({ name }) => name));
    console.log(`\n${table.head()}`);
    for await (const figures of requestFigures({ peers, client, rounds, isWanted: isAnyWanted, say })) {
      (results['requests'] ??= []).push(figures);
      console.log(table.line(figures));
    }
  } finally {
    client.close();
    for (const { server } of peers) await server.stop();
  }
}

async function abuse({ huge }: Options, results: Results): Promise<void> {
  const { large } = await popularChains(huge, say);
  const server = await startWatched(large, 'abused', true);
  const clients = [new LoadClient(), new LoadClient()] as const;
  try {
    const table = abuseTable();
    console.log(`\n${table.head()}`);
    for (const [name, paths] of waysOfAbuse(server)) {
      const figures = await measureAbuse(server, name, paths, clients);
      (results['abuse'] ??= []).push(figures);
      console.log(table.line(figures));
    }
  } finally {
    for (const client of clients) client.close();
    await server.stop();
  }
}

async function pool({ rounds }: Options, results: Results): Promise<void> {
  const table = largeTransactionTable();
  console.log(`\n${table.head()}`);
  for await (const figures of largeTransactionFigures(rounds)) {
    (results['pool'] ??= []).push(figures);
    console.log(table.line(figures));
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  }
);
