// npm run bench:electrum: the cost of calls of the Electrum protocol, beside other servers, and the service under many subscriptions
// (bench/README.md).
//   --only TEXT      parts (calls, fresh, memory, load) or rows whose names begin like this; more than once if wanted
//   --peers          Fulcrum (FULCRUM) and ElectrumX (ELECTRUMX) as well, on the blocks of a Bitcoin Core (BITCOIND)
//   --rounds N       default 3
//   --before DIR     another built checkout, measured in the same rounds
//   --json FILE      the numbers, for keeping

import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AskProcess } from './electrum/ask-client';
import { costFigures } from './electrum/cost-figures';
import { barePeer, serverPeer } from './electrum/cost-peer';
import { freshFigures } from './electrum/fresh-figures';
import { LOAD_SESSIONS, measureLoad } from './electrum/load';
import { ownServer, type OwnServer } from './electrum/own-server';
import { electrumX, fulcrum, startNode } from './electrum/peers';
import { rowsOf, type Row } from './electrum/rows';
import { bytesIn, type LineServer } from './electrum/server';
import { sessionMemory, SESSIONS } from './electrum/session-memory';
import { blockTable, buildTable, costTable, freshTable, memoryTable, sessionTable } from './electrum/tables';
import { walletChain, type WalletChain } from './electrum/wallet-chain';
import { describeMachine } from './machine';
import { describeLoad, cleanUpAndSaveAtExit } from './measure/run';

const say = (line: string): void => {
  console.error(line);
};

/** Values of `--only` beside the names of rows, which are part of `calls`. */
type Part = 'calls' | 'fresh' | 'memory' | 'load';

/** Number of clients beside the sessions that are counted. */
const OTHERS = 1_000;

interface Bench {
  readonly chain: WalletChain;
  readonly rounds: number;
  /** Ours is the first. */
  readonly servers: readonly [OwnServer, ...LineServer[]];
  readonly client: AskProcess;
}

type Results = Record<string, unknown>;
type Closers = (() => unknown)[];

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      peers: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '3' },
      before: { type: 'string' },
      json: { type: 'string' }
    }
  });
  const { only, before, peers: hasPeers } = values;
  const isWanted = (part: Part): boolean => only?.includes(part) ?? true;
  const results: Results = {};
  cleanUpAndSaveAtExit(values.json, results);
  console.log(describeMachine());
  console.log(describeLoad('at the start'));
  const chain = await walletChain(say);
  const rows = rowsOf(chain).filter(({ name }) => isWanted('calls') || only?.some((start) => name.startsWith(start)));
  if (rows.length > 0 || isWanted('fresh') || isWanted('memory')) {
    const closers: Closers = [];
    try {
      const bench = await open(chain, Number(values.rounds), { before, hasPeers }, closers);
      results['building'] = building(bench);
      if (rows.length > 0) results['calls'] = await calls(bench, rows, closers);
      if (isWanted('fresh')) results['fresh'] = await fresh(bench);
      if (isWanted('memory')) results['memory'] = await memory(bench);
    } finally {
      for (const close of closers.reverse()) await close();
    }
  }
  if (isWanted('load')) await load(chain, before, results);
  console.log(describeLoad('at the end'));
}

interface Others {
  readonly before: string | undefined;
  readonly hasPeers: boolean;
}

/** Starts all servers, twice: what has built an index is not what usually runs. `closers` gets functions that end them. */
async function open(chain: WalletChain, rounds: number, { before, hasPeers }: Others, closers: Closers): Promise<Bench> {
  const sessions = SESSIONS + OTHERS;
  const ours = await ownServer({ chain, name: 'ours', sessions });
  const servers: [OwnServer, ...LineServer[]] = [ours];
  if (before !== undefined) servers.push(await ownServer({ chain, name: 'before', sessions, checkout: resolve(before) }));
  if (hasPeers) servers.push(...(await peersOf(chain, sessions, closers)));
  for (const server of servers) {
    say(`starting ${server.name}, which builds its index`);
    closers.push(() => server.stop());
    await server.start();
  }
  for (const server of servers) await server.restart();
  const client = new AskProcess();
  closers.push(() => {
    client.close();
  });
  return { chain, rounds, servers, client };
}

/** Not started yet; their node is. @throws Error when no program is named */
async function peersOf(chain: WalletChain, sessions: number, closers: Closers): Promise<LineServer[]> {
  const { FULCRUM, ELECTRUMX, BITCOIND } = process.env;
  if (BITCOIND === undefined || (FULCRUM === undefined && ELECTRUMX === undefined))
    throw new Error('--peers needs BITCOIND, and FULCRUM or ELECTRUMX: paths of programs');
  say('starting their node');
  const node = await startNode(BITCOIND, chain);
  closers.push(() => node.stop());
  const peers: LineServer[] = [];
  if (FULCRUM !== undefined) peers.push(await fulcrum(FULCRUM, node, sessions));
  if (ELECTRUMX !== undefined) peers.push(await electrumX(ELECTRUMX, node, sessions));
  const megabytes = (bytesIn(join(node.folder, 'regtest/indexes/txindex')) / 1e6).toFixed(1);
  console.log(`the peers' node has an index of transactions, which both need: ${megabytes} MB`);
  return peers;
}

/** Once all servers have been started with nothing, and again. */
function building({ servers }: Bench): unknown {
  const table = buildTable();
  console.log(`\n${table.head()}`);
  for (const server of servers) console.log(table.line(server));
  return servers.map(({ name, starts, diskBytes }) => ({ name, starts, diskBytes }));
}

async function calls({ servers, client, rounds }: Bench, rows: readonly Row[], closers: Closers): Promise<unknown> {
  const bare = await barePeer(servers[0]);
  closers.push(() => bare.stop());
  const all: unknown[] = [];
  // Other servers of the Electrum protocol have no interface over HTTP.
  for (const isHttp of [false, true]) {
    const asked = rows.filter(({ way }) => (way === 'http') === isHttp);
    if (asked.length === 0) continue;
    const peers = [...servers.map(serverPeer), bare].filter((peer) => peer.port(isHttp ? 'http' : 'line') !== undefined);
    const table = costTable(peers.map(({ name }) => name));
    console.log(`\n${table.head()}`);
    for await (const figures of costFigures({ peers, rows: asked, client, rounds, say })) {
      const { row, bytes, costs } = figures;
      all.push({ name: row.name, bytes, goal: row.goal, costs: Object.fromEntries(costs) });
      console.log(table.line(figures));
    }
  }
  return all;
}

async function fresh({ chain, servers, client, rounds }: Bench): Promise<unknown> {
  const table = freshTable(servers.map(({ name }) => name));
  console.log(`\n${table.head()}`);
  const all: unknown[] = [];
  for await (const figures of freshFigures({ servers, rows: rowsOf(chain), client, rounds, say })) {
    all.push({ name: figures.row.name, amount: figures.amount, costs: Object.fromEntries(figures.costs) });
    console.log(table.line(figures));
  }
  return all;
}

async function memory({ servers }: Bench): Promise<unknown> {
  const table = sessionTable();
  console.log(`\n${table.head()}`);
  const all: unknown[] = [];
  for (const server of servers) {
    const figures = await sessionMemory(server);
    all.push(figures);
    console.log(table.line(figures));
  }
  return all;
}

async function load(chain: WalletChain, before: string | undefined, results: Results): Promise<void> {
  for (const [name, checkout] of Object.entries({ ours: '.', before })) {
    if (checkout === undefined) continue;
    const sessions = LOAD_SESSIONS + OTHERS;
    const server = await ownServer({ chain, name: `${name}-load`, sessions, checkout: resolve(checkout), hasClock: true });
    try {
      await server.start();
      const figures = await measureLoad(server, chain, say);
      results[`load, ${name}`] = figures;
      const [blocks, held] = [blockTable(), memoryTable()];
      console.log(`\n${name}\n${blocks.head()}`);
      for (const each of figures.blocks) console.log(blocks.line(each));
      console.log(`\n${held.head()}`);
      for (const each of figures.memory) console.log(held.line(each));
      console.log(describeLoad('now'));
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
