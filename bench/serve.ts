// npm run bench: what answers cost, and how the service stands load (bench/README.md).
//   --only TEXT     rows whose names begin like this, and nothing else; more than once if wanted
//   --rounds N      default 3
//   --before DIR    another built checkout, measured in the same rounds
//   --json FILE     the numbers, for keeping
// BITCOIND=/path measures Bitcoin Core in the same rounds.

import { rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LoadClient } from './clients/load';
import { describeMachine } from './machine';
import { startBitcoind } from './serve/bitcoind';
import { ChainReader } from './serve/chain-reader';
import { measureCrowd, measureMixed, type MixedFigures } from './serve/load-measures';
import { untilAtRest } from './serve/process-figures';
import { answerAlike, measureRow, type RowFigures, type Servers } from './serve/measure';
import { allRows, type Row } from './serve/rows';
import { startBare, startBcoin, type ServerProcess } from './serve/server-process';
import { RUN_FOLDER, servingChain, type ServingChain } from './serve/serving-chain';
import { cpuTable, crowdTable, mixedTable, type CrowdFigures } from './serve/table';

/** What `--only` picks beside the rows. */
const CROWD = '64 connections';
const MIXED = 'mixed load';

const CHECKOUT = join(__dirname, '..');

const say = (line: string): void => { console.error(line); };

interface Bench {
  readonly chain: ServingChain;
  readonly rows: readonly Row[];
  readonly servers: Servers;
  readonly clients: readonly [LoadClient, LoadClient];
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: {
    only: { type: 'string', multiple: true }, rounds: { type: 'string' }, before: { type: 'string' }, json: { type: 'string' }
  } });
  const isWanted = (name: string): boolean => values.only?.some((start) => name.startsWith(start)) ?? true;
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  process.once('exit', () => { rmSync(RUN_FOLDER, { recursive: true, force: true }); });
  const chain = await servingChain(say);
  const closers: (() => unknown)[] = [];
  try {
    const bench = await open(chain, values.before, closers);
    const machine = `${describeMachine()}\nload average at the start ${(loadavg()[0] ?? 0).toFixed(1)}: what else runs here is in the figures`;
    console.log(machine);
    const rows = await measureRows(bench, isWanted, Number(values.rounds ?? 3));
    if (rows.length > 0) console.log(`\nmicroseconds of processor time per request, 16 connections\n${cpuTable(rows)}`);
    const crowd = isWanted(CROWD) ? await crowdFigures(bench, rows) : [];
    if (crowd.length > 0) console.log(`\n${crowdTable(crowd)}`);
    const mixed = isWanted(MIXED) ? await mixedFigures(bench, closers) : undefined;
    if (mixed !== undefined) console.log(`\n${mixedTable(mixed)}`);
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ machine, rows, crowd, mixed }, null, 2)}\n`);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Everything that is asked and asks; `closers` gets what ends it again. */
async function open(chain: ServingChain, before: string | undefined, closers: (() => unknown)[]): Promise<Bench> {
  const started = async <S extends ServerProcess>(server: Promise<S>): Promise<S> => {
    const running = await server;
    closers.push(() => running.stop());
    await untilAtRest(running.pid);
    return running;
  };
  say('reading the chain with bcoin');
  const reader = await ChainReader.open(chain);
  closers.push(() => reader.close());
  const rows = await allRows(reader);
  say('starting the servers');
  const bitcoind = process.env['BITCOIND'];
  const servers: Servers = {
    ours: await started(startBcoin(chain, 'ours', CHECKOUT)),
    bare: await started(startBare()),
    own: await started(startBcoin(chain, 'own')),
    ...before !== undefined && { before: await started(startBcoin(chain, 'before', resolve(before))) },
    ...bitcoind !== undefined && { bitcoind: await started(startBitcoind(bitcoind, chain, reader)) }
  };
  const clients = [new LoadClient(), new LoadClient()] as const;
  closers.push(() => { for (const client of clients) client.close(); });
  return { chain, rows, servers, clients };
}

async function measureRows({ rows, servers, clients: [client] }: Bench, isWanted: (name: string) => boolean, rounds: number): Promise<RowFigures[]> {
  const figures: RowFigures[] = [];
  for (const row of rows.filter(({ name }) => isWanted(name))) {
    const measured = await measureRow(row, servers, client, rounds);
    say(`${row.name}: ${measured.ours.cpu.toFixed(1)} (bare ${measured.bare.cpu.toFixed(1)})`);
    figures.push(measured);
  }
  return figures;
}

async function crowdFigures({ servers: { ours, bare }, clients: [client] }: Bench, rows: readonly RowFigures[]): Promise<CrowdFigures[]> {
  const figures: CrowdFigures[] = [];
  for (const { row, ours: { p50 }, bare: { p50: bareP50 } } of rows) {
    say(`${CROWD}: ${row.name}`);
    await answerAlike(bare, row, ours);
    figures.push({
      name: row.name,
      ours: { p50At16: p50, result: await measureCrowd(row.questions, ours, client) },
      bare: { p50At16: bareP50, result: await measureCrowd(row.questions.slice(0, 1), bare, client) }
    });
  }
  return figures;
}

/** On nodes of their own, which were asked for nothing before. */
async function mixedFigures({ chain, rows, clients }: Bench, closers: (() => unknown)[]): Promise<MixedFigures> {
  say(MIXED);
  const [server, alone] = [await startBcoin(chain, 'mixed', CHECKOUT), await startBcoin(chain, 'alone')];
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
