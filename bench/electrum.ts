// npm run bench:electrum: the cost of calls of the Electrum protocol, and the service under many subscriptions (bench/README.md).
//   --only TEXT      parts (calls, load) or rows whose names begin like this; more than once if wanted
//   --rounds N       default 3
//   --before DIR     another built checkout, measured in the same rounds
//   --json FILE      the numbers, for keeping
// FULCRUM, with BITCOIND: paths of programs to measure beside ours.

import { rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from './machine';
import { callFigures, type CallPeer } from './electrum/call-figures';
import { callRows } from './electrum/calls';
import { LineProcess } from './electrum/line-client';
import { startFulcrum, startOwn } from './electrum/line-server';
import { measureLoad, SESSIONS } from './electrum/load';
import { blockTable, callTable, memoryTable } from './electrum/tables';
import { walletChain, type WalletChain } from './electrum/wallet-chain';
import { RUN_FOLDER } from './serve/serving-chain';

const say = (line: string): void => {
  console.error(line);
};

/** Values of `--only` beside the names of rows. */
const PARTS = ['calls', 'load'];
/** Number of clients beside those of the load. */
const OTHERS = 100;

interface Options {
  readonly isWanted: (name: string) => boolean;
  readonly rounds: number;
  readonly before: string | undefined;
}

type Results = Record<string, unknown>;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      rounds: { type: 'string', default: '3' },
      before: { type: 'string' },
      json: { type: 'string' }
    }
  });
  const options: Options = {
    isWanted: (name) => values.only?.some((start) => name.startsWith(start)) ?? true,
    rounds: Number(values.rounds),
    before: values.before
  };
  const results: Results = {};
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  process.once('exit', () => {
    rmSync(RUN_FOLDER, { recursive: true, force: true });
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  });
  console.log(describeMachine());
  sayLoad('at the start');
  const chain = await walletChain(say);
  if (options.isWanted('calls') || values.only?.every((name) => PARTS.includes(name)) !== true) await calls(chain, options, results);
  if (options.isWanted('load')) await load(chain, options, results);
  sayLoad('at the end');
}

function sayLoad(when: string): void {
  console.log(`load average ${when} ${(loadavg()[0] ?? 0).toFixed(1)}: what else runs here is in the figures`);
}

async function calls(chain: WalletChain, { isWanted, rounds, before }: Options, results: Results): Promise<void> {
  const peers: CallPeer[] = [];
  const client = new LineProcess();
  try {
    say('starting the servers');
    const add = async (name: string, folder?: string): Promise<void> => {
      const server = await startOwn(chain, name, OTHERS, folder);
      peers.push({ name, server, own: server });
    };
    await add('ours');
    if (before !== undefined) await add('before', resolve(before));
    const { FULCRUM: program, BITCOIND: bitcoind } = process.env;
    if (program !== undefined && bitcoind !== undefined)
      peers.push({ name: 'Fulcrum', server: await startFulcrum({ program, bitcoind, chain }) });
    else if (program !== undefined) say('Fulcrum reads its chain from a Bitcoin Core: BITCOIND');
    const table = callTable(peers.map(({ name }) => name));
    console.log(`\n${table.head()}`);
    const isAnyWanted = (name: string): boolean => isWanted('calls') || isWanted(name);
    const all: unknown[] = (results['calls'] = []);
    for await (const figures of callFigures({ peers, rows: callRows(chain), client, rounds, isWanted: isAnyWanted, say })) {
      all.push({ ...figures, costs: Object.fromEntries(figures.costs) });
      console.log(table.line(figures));
    }
  } finally {
    client.close();
    for (const { server } of peers) await server.stop();
  }
}

async function load(chain: WalletChain, { before }: Options, results: Results): Promise<void> {
  for (const [name, folder] of Object.entries({ ours: '.', before })) {
    if (folder === undefined) continue;
    const server = await startOwn(chain, `${name}-load`, SESSIONS + OTHERS, resolve(folder));
    try {
      const figures = await measureLoad(server, chain, say);
      results[`load, ${name}`] = figures;
      const [blocks, memory] = [blockTable(), memoryTable()];
      console.log(`\n${name}\n${blocks.head()}`);
      for (const each of figures.blocks) console.log(blocks.line(each));
      console.log(`\n${memory.head()}`);
      for (const each of figures.memory) console.log(memory.line(each));
      const { bytesPerSession, bytesPerSubscription } = figures;
      console.log(`bytes held by a session ${bytesPerSession.toFixed(0)}, by a subscription ${bytesPerSubscription.toFixed(0)}`);
      sayLoad('now');
    } finally {
      await server.stop();
    }
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  }
);
