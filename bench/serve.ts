// npm run bench: the cost of answers, and the service under load (bench/README.md). Lines of
// the tables are printed as soon as they are ready.
//   --only TEXT     rows whose names begin like this, and nothing else; more than once if wanted
//   --rounds N      default 3
//   --core EDITION  default 0.17; modern: today's
//   --before DIR    another built checkout, measured in the same rounds
//   --observed      with --rest-metrics and --rest-trusted-proxies; the checkout of --before without
//   --processes N   of each program, default 1; the figures are those of the quickest
//   --json FILE     the numbers, for keeping
// BITCOIND=/path measures Bitcoin Core in the same rounds.

import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LoadClient } from './clients/load';
import { describeMachine } from './machine';
import { describeLoad, cleanUpAndSaveAtExit } from './measure/run';
import { startBitcoind } from './serve/bitcoind';
import { EDITIONS, type Edition } from './serve/edition';
import { ChainReader, type WholeBlockReads } from './serve/chain-reader';
import { isFailure, textOf, type Failure } from './serve/failure';
import { measureCrowd, measureMixed, type MixedFigures } from './serve/load-measures';
import { untilAtRest } from './serve/process-figures';
import { answerAlike, measureRow, type Peer, type RowFigures, type Servers } from './serve/measure';
import { startBare, startBcoin, type PluginStart, type ServerProcess } from './serve/server-process';
import { freePort } from '../test/support/bcoin/regtest-node';
import { servingChain, type ServingChain } from './serve/serving-chain';
import { cpuTable, crowdTable, likenessLine, mixedTable, wholeBlocksLine, type CrowdFigures } from './serve/tables';
import type { Row } from './serve/rows';

/** Values of `--only` beside the names of rows. */
const CROWD = '64 connections';
const MIXED = 'mixed load';

const CHECKOUT = join(__dirname, '..');

const say = (line: string): void => {
  console.error(line);
};

interface Bench {
  readonly chain: ServingChain;
  readonly reader: ChainReader;
  readonly rows: readonly Row[];
  readonly servers: Servers;
  readonly plugin: PluginStart;
  readonly clients: readonly [LoadClient, LoadClient];
}

/** Figures measured so far. */
interface Results {
  readonly rows: RowFigures[];
  readonly crowd: CrowdFigures[];
  machine?: string;
  wholeBlockReads?: WholeBlockReads | undefined;
  mixed?: MixedFigures;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      core: { type: 'string', default: '0.17' },
      before: { type: 'string' },
      observed: { type: 'boolean', default: false },
      processes: { type: 'string', default: '1' },
      json: { type: 'string' }
    }
  });
  const edition = EDITIONS[values.core];
  if (edition === undefined) throw new Error(`--core must be one of ${Object.keys(EDITIONS).join(', ')}, not '${values.core}'`);
  const isWanted = (name: string): boolean => values.only?.some((start) => name.startsWith(start)) ?? true;
  const results: Results = { rows: [], crowd: [] };
  cleanUpAndSaveAtExit(values.json, results);
  const chain = await servingChain(say);
  const closers: (() => unknown)[] = [];
  try {
    const bench = await open(chain, edition, values, closers);
    results.machine = `${describeMachine()}\n${describeLoad('at the start')}`;
    console.log(results.machine);
    const rows = bench.rows.filter(({ name }) => isWanted(name));
    if (rows.length > 0) await measureRows(bench, rows, Number(values.rounds ?? 3), results);
    if (results.rows.length > 0 && isWanted(CROWD)) await crowdFigures(bench, results);
    if (isWanted(MIXED)) {
      results.mixed = await mixedFigures(bench, closers);
      console.log(`\n${mixedTable(results.mixed)}`);
    }
    // A wrong answer of the service is an error, not a figure.
    if (results.rows.some(({ cached, cold }) => isFailure(cached.ours) || isFailure(cold.ours))) process.exitCode = 1;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Starts all servers and clients; `closers` gets functions that end them. */
async function open(
  chain: ServingChain,
  edition: Edition,
  { before, observed, processes }: { readonly before?: string; readonly observed: boolean; readonly processes: string },
  closers: (() => unknown)[]
): Promise<Bench> {
  const started = async <S extends ServerProcess>(server: Promise<S>): Promise<S> => {
    const running = await server;
    closers.push(() => running.stop());
    await untilAtRest(running.pid);
    return running;
  };
  const startedOrNot = (name: string, server: Promise<ServerProcess>): Promise<ServerProcess | Failure> =>
    started(server).catch((error: unknown) => {
      say(`${name} did not start: ${textOf(error)}`);
      return { failure: 'no start' };
    });
  say('reading the chain with bcoin');
  const reader = await ChainReader.open(chain);
  closers.push(() => reader.close());
  const rows = edition.rows(reader);
  const tipHash = reader.hash(reader.tipHeight);
  const readyPath = edition.readyPath(tipHash);
  const ours = (folder: string): PluginStart => ({ folder, flags: edition.flags, readyPath });
  say('starting the servers');
  const bitcoind = process.env['BITCOIND'];
  const startOurs = async (name: string): Promise<ServerProcess> => {
    const observing = observed ? [`--rest-metrics=${await freePort()}`, '--rest-trusted-proxies=10.0.0.0/8'] : [];
    const start = ours(CHECKOUT);
    return started(startBcoin(chain, name, { ...start, flags: [...start.flags, ...observing] }));
  };
  const startBefore = (folder: string, name: string): Promise<ServerProcess | Failure> =>
    startedOrNot(folder, startBcoin(chain, name, ours(resolve(folder))));
  const startCore = (program: string, name: string): Promise<ServerProcess | Failure> => {
    const tip = { height: reader.tipHeight, hash: tipHash };
    return startedOrNot(program, startBitcoind({ program, name, chain, tip, flags: edition.coreFlags, readyPath }));
  };
  const further: [Peer, ServerProcess][] = [];
  const servers: Servers = {
    ours: await startOurs('ours'),
    bare: await started(startBare()),
    own: await startedOrNot('bcoin', startBcoin(chain, 'own')),
    ...(before !== undefined && { before: await startBefore(before, 'before') }),
    ...(bitcoind !== undefined && { bitcoind: await startCore(bitcoind, 'bitcoind') }),
    further
  };
  for (let n = 2; n <= Number(processes); n++) {
    const add = (peer: Peer, server: ServerProcess | Failure): void => {
      if (!isFailure(server)) further.push([peer, server]);
    };
    add('ours', await startOurs(`ours-${n}`));
    if (before !== undefined) add('before', await startBefore(before, `before-${n}`));
    if (bitcoind !== undefined) add('bitcoind', await startCore(bitcoind, `bitcoind-${n}`));
  }
  const clients = [new LoadClient(), new LoadClient()] as const;
  closers.push(() => {
    for (const client of clients) client.close();
  });
  return { chain, reader, rows, servers, clients, plugin: ours(CHECKOUT) };
}

async function measureRows(bench: Bench, rows: readonly Row[], rounds: number, results: Results): Promise<void> {
  const {
    reader: { wholeBlockReads },
    servers,
    clients: [client]
  } = bench;
  const table = cpuTable({ rows, hasBefore: servers.before !== undefined, isLive: servers.bitcoind !== undefined });
  console.log(`\nmicroseconds of processor time per request, 16 connections\n${table.head()}`);
  for (const row of rows) {
    const figures = await measureRow(row, servers, { client, rounds, say });
    results.rows.push(figures);
    console.log(table.line(figures));
  }
  results.wholeBlockReads = wholeBlockReads;
  const likeness = likenessLine(results.rows);
  if (likeness !== undefined) console.log(likeness);
  if (wholeBlockReads !== undefined && rows.some(({ cold }) => cold !== undefined)) console.log(wholeBlocksLine(wholeBlockReads));
}

async function crowdFigures({ servers: { ours, bare }, clients: [client] }: Bench, { rows, crowd }: Results): Promise<void> {
  const table = crowdTable(rows.map(({ row: { name } }) => name));
  console.log(`\n${table.head()}`);
  for (const { row, cached } of rows) {
    if (isFailure(cached.ours) || isFailure(cached.bare) || cached.ours === undefined || cached.bare === undefined) continue;
    await answerAlike(bare, row, ours);
    const figures = {
      name: row.name,
      ours: { p50At16: cached.ours.p50, result: await measureCrowd(row.questions, ours, client) },
      bare: { p50At16: cached.bare.p50, result: await measureCrowd(row.questions.slice(0, 1), bare, client) }
    };
    crowd.push(figures);
    console.log(table.line(figures));
  }
}

/** On separate nodes, which had no requests before. */
async function mixedFigures({ chain, rows, clients, plugin }: Bench, closers: (() => unknown)[]): Promise<MixedFigures> {
  say(MIXED);
  const [server, alone] = [await startBcoin(chain, 'mixed', plugin), await startBcoin(chain, 'alone')];
  for (const node of [server, alone]) {
    closers.push(() => node.stop());
    await untilAtRest(node.pid);
  }
  const named = (wanted: string): Row => {
    const found = rows.find(({ name }) => name === wanted);
    if (found === undefined) throw new Error(`expected a row ${wanted}, got none`);
    return found;
  };
  return measureMixed({ server, alone, blocks: named('block.json, 40 in turn'), small: named('tx.json'), clients });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
