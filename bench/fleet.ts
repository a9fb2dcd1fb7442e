// npm run bench:fleet: what feeding, reading and copying cost in a fleet on this machine (bench/README.md).
//   --only feed|live|readers|transaction|catch-up    one part (catch-up has the snapshot, too)
//   --blocks 20                                      large blocks that are connected
//   --rounds 3

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { scanBlock } from '../lib/bitcoin/block';
import { toDisplayHex } from '../lib/bitcoin/hash';
import { runSnapshotCommand } from '../plugin/cli/snapshot-commands/run';
import { runFleetCommand } from '../plugin/fleet/command';
import { FeedingNode } from '../test/support/feeding-node';
import { Nats, natsServer } from '../test/support/nats';
import { freePort, openRegtestNode } from '../test/support/regtest-node';
import { onFirstBlocks } from './chain/first-blocks';
import { addBlock, trustBlocks } from './chain/generate';
import { LoadClient } from './clients/load';
import { describeMachine } from './machine';
import { percentile } from './measure/percentile';
import { cpuMilliseconds, untilAtRest } from './measure/process-load';
import { countCpu } from './serve/process-figures';
import { startBare, type BareProcess } from './serve/server-process';
import type { TestFullNode } from '../test/support/bcoin';
import type { Io } from '../plugin/cli/io';
import type { BlockMaker } from './chain/block-maker';
import type { BlockShape } from './chain/block-shape';

const PROGRAM = resolve('dist/plugin/cli/main.js');
const AUTOCANNON = require.resolve('autocannon');
const LARGE: BlockShape = { transactions: 2_500, inputs: 5_200, outputs: 7_800, spendsItself: true };
const SEED = 7;
const SMALL_BLOCKS = 40;
/** Of each reader: what three of them can answer beside their clients on two cores. */
const REQUESTS_PER_SECOND = 3_000;
/** As many as one answers beside its clients. */
const WARMING_REQUESTS_PER_SECOND = 8_000;
const LOAD_SECONDS = 5;
const CLOCK_TICKS_MS = 10;
/** A reader that is live waits longer before it says that it is not there yet. */
const CATCHING_UP_MS = 1_000;
/** Between two questions of those that wait for minutes. */
const ASKING_PAUSE_MS = 500;

/** Of readers that answer nobody without it. */
const KEY = 'bench';
const AUTHORIZATION = `Basic ${Buffer.from(`:${KEY}`).toString('base64')}`;

/** Only a node that feeds a fleet has the same index as a reader: one with hashes over the coins that blocks spend. */
const FEEDING = { BCOIN_REST_FEED: 'nats://127.0.0.1' };

const PARTS = ['feed', 'live', 'readers', 'transaction', 'catch-up'] as const;
const TRANSACTIONS_OF_BLOCK = 60;
const AT_ONCE = 16;

interface Setup {
  readonly nats: Nats;
  readonly folder: string;
  readonly rounds: number;
  /** Of a node with the first blocks. */
  readonly chain: string;
  readonly maker: BlockMaker;
  readonly blocks: readonly Buffer[];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, blocks: { type: 'string', default: '20' }, rounds: { type: 'string', default: '3' } }
  });
  const program = natsServer();
  if (program === undefined) throw new Error('bench:fleet needs nats-server (Debian: apt-get install nats-server)');
  const folder = mkdtempSync(join(tmpdir(), 'bench-fleet-'));
  const nats = await Nats.open(program, 3);
  try {
    console.log(describeMachine());
    const rounds = Number(values.rounds);
    const setup: Setup = { nats, folder, rounds, ...(await makeChain(join(folder, 'chain'), Number(values.blocks))) };
    const runs = { feed, live, readers, transaction, 'catch-up': catchUp };
    for (const part of PARTS) if (values.only === undefined || values.only === part) await runs[part](setup);
  } finally {
    await nats.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeChain(chain: string, count: number): Promise<Omit<Setup, 'nats' | 'folder' | 'rounds'>> {
  return onFirstBlocks(chain, SEED, async (node, maker) => {
    await addBlock(node, maker.next(LARGE));
    return { chain, maker, blocks: Array.from({ length: count }, () => maker.next(LARGE)) };
  });
}

/** CPU of connecting blocks with a feed and without, in turns. */
async function feed({ nats, folder, rounds, chain, blocks }: Setup): Promise<void> {
  const megabytes = blocks.reduce((sum, { length }) => sum + length, 0) / 1e6;
  const differences: number[] = [];
  const servers: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const alone = await withNode(join(folder, 'alone'), chain, async (node) => await cpuOf(() => addAll(node, blocks)));
    const before = serverCpu(nats);
    const fed = await withFeed(nats, join(folder, 'fed'), chain, async (feeding) => {
      const start = serverCpu(nats);
      const cpu = await cpuOf(async () => {
        await addAll(feeding.node, blocks);
        await feeding.feed.settled();
      });
      servers.push((serverCpu(nats) - start) / megabytes);
      return cpu;
    });
    if (before === 0) throw new Error('expected the servers to be running');
    differences.push((fed - alone) / megabytes);
  }
  console.log(`feed, R=3: ${shown(differences)} ms of CPU a MB on top of the node; servers ${shown(servers)}, all three together`);
}

/** From the moment when the node has connected a block until a reader answers with it. */
async function live({ nats, folder, chain, maker, blocks }: Setup): Promise<void> {
  await withFeed(nats, join(folder, 'live'), chain, async ({ node }) => {
    const reader = await BenchReader.start(nats, join(folder, 'reader'), ['--no-auth', '--rest-addresses']);
    try {
      await reader.untilAt(node.chain.height);
      const large = await latencies(node, reader, blocks);
      const small = await latencies(
        node,
        reader,
        Array.from({ length: SMALL_BLOCKS }, () => maker.nextEmpty())
      );
      for (const [name, list] of [
        ['small blocks', small],
        [`blocks of ${((blocks[0]?.length ?? 0) / 1e6).toFixed(1)} MB`, large]
      ] as const)
        console.log(
          `connect to reader-live, ${name}: p50 ${percentile(list, 0.5).toFixed(0)} ms, p99 ${percentile(list, 0.99).toFixed(0)} ms`
        );
    } finally {
      await reader.stop();
    }
  });
}

async function latencies(node: TestFullNode, reader: BenchReader, blocks: readonly Buffer[]): Promise<number[]> {
  const list: number[] = [];
  for (const block of blocks) {
    const isThere = reader.untilAt(node.chain.height + 1);
    let connected = 0;
    (node as unknown as NodeJS.EventEmitter).once('connect', () => (connected = performance.now()));
    await addBlock(node, block);
    await isThere;
    list.push(performance.now() - connected);
    await pause(200);
  }
  return list;
}

/**
 * The same load on each of one, two and three readers: requests for each second of their CPU. Servers that only send the same bytes show what
 * more processes on this machine cost by themselves.
 */
async function readers({ nats, folder, rounds, chain, blocks }: Setup): Promise<void> {
  await withFeed(nats, join(folder, 'many'), chain, async ({ node }) => {
    await addAll(node, blocks.slice(0, 2));
    const { transactions } = scanBlock(blocks[0] ?? Buffer.alloc(0));
    const path = `/rest/tx/${toDisplayHex(transactions[5]?.txid ?? Buffer.alloc(32))}.json`;
    const all = await Promise.all([1, 2, 3].map((name) => BenchReader.start(nats, join(folder, `many-${name}`), ['--no-auth'])));
    const bare: BareProcess[] = [];
    try {
      for (const reader of all) await reader.untilAt(node.chain.height);
      const body = Buffer.from(await (await fetch(`http://127.0.0.1:${all[0]?.port}${path}`)).arrayBuffer());
      while (bare.length < all.length) bare.push(await startBare());
      for (const server of bare) await server.answer({ path, contentType: 'application/json', body });
      // Until V8 has compiled what runs for them.
      for (const servers of [all, bare]) for (const server of servers) await perCpuSecond([server], path, WARMING_REQUESTS_PER_SECOND);
      const figures = new Map<string, number[]>();
      for (let round = 0; round < rounds; round++)
        for (let count = 1; count <= all.length; count++)
          for (const [name, servers] of [
            ['reader', all],
            ['bare server', bare]
          ] as const) {
            const key = `${count} × ${name}`;
            figures.set(key, [...(figures.get(key) ?? []), await perCpuSecond(servers.slice(0, count), path)]);
          }
      for (const [name, list] of figures) console.log(`${name}: ${shown(list, 0)} requests for each second of their CPU`);
    } finally {
      for (const server of [...all, ...bare]) await server.stop();
    }
  });
}

/** Requests for each second of CPU that the servers use, each under the same load. */
async function perCpuSecond(
  servers: readonly { readonly port: number; readonly pid: number }[],
  path: string,
  perSecond = REQUESTS_PER_SECOND
): Promise<number> {
  const cpu = countCpu(servers.map(({ pid }) => pid));
  const requests = await Promise.all(servers.map(({ port }) => load(`http://127.0.0.1:${port}${path}`, perSecond)));
  return (sumOf(requests) / cpu()) * 1_000_000;
}

/** `/rest/tx` on a reader that has the blocks, and on one that has come later and asks the node: all that this takes, but for the client. */
async function transaction({ nats, folder, rounds, chain, blocks }: Setup): Promise<void> {
  await withFeed(nats, join(folder, 'transaction'), chain, async ({ node }) => {
    const readers: BenchReader[] = [];
    const client = new LoadClient();
    try {
      const start = async (name: string): Promise<BenchReader> => {
        const reader = await BenchReader.start(nats, join(folder, name), ['--no-auth']);
        readers.push(reader);
        await reader.untilAt(node.chain.height);
        return reader;
      };
      const near = await start('near');
      await addAll(node, blocks);
      await near.untilAt(node.chain.height);
      const far = await start('far');
      const paths = blocks.flatMap(somePaths);
      const costs = new Map<BenchReader, number[]>([near, far].map((reader) => [reader, []]));
      const share = Math.floor(paths.length / (rounds + 1));
      for (let round = 0; round <= rounds; round++)
        for (const [reader, list] of costs) {
          const cpu = countCpu([process.pid, reader.pid, ...nats.servers.map(({ pid }) => pid ?? 0)]);
          const asked = paths.slice(round * share, (round + 1) * share);
          const { answered } = await client.run({ port: reader.port, paths: asked, connections: AT_ONCE, limit: 'each path once' });
          if (answered !== share) throw new Error(`expected ${share} transactions, got ${answered}`);
          // In the first round V8 compiles what runs for them.
          if (round > 0) list.push(cpu() / share);
        }
      const [local = [], over = []] = costs.values();
      console.log(
        `a transaction over HTTP, ${AT_ONCE} at once: ${shown(over)} µs of CPU from a node, servers included; ${shown(local)} µs where ` +
          `its block is; ${shown(over.map((each, i) => each / (local[i] ?? 1)))} times`
      );
    } finally {
      client.close();
      for (const reader of readers) await reader.stop();
    }
  });
}

/** Of transactions that lie far apart: fewer of a block than make a server read it as a whole. */
function somePaths(block: Buffer): string[] {
  const { transactions } = scanBlock(block);
  const step = Math.ceil(transactions.length / TRANSACTIONS_OF_BLOCK);
  return transactions.filter((_, i) => i % step === 0).map(({ txid }) => `/rest/tx/${toDisplayHex(txid)}.bin`);
}

/** Building an index over a fleet, over local blocks, and not at all: from a snapshot. */
async function catchUp({ nats, folder, rounds, chain, blocks }: Setup): Promise<void> {
  const grown = join(folder, 'grown');
  await withNode(grown, chain, (node) => addAll(node, blocks));
  await withFeed(nats, join(folder, 'source'), grown, async ({ node }) => {
    const ratios: number[] = [];
    const working: number[] = [];
    const both: number[] = [];
    let built = '';
    let builtMs = 0;
    for (let round = 0; round < rounds; round++) {
      built = join(folder, `built-${round}`);
      builtMs = await cpuToLive(nats, built, node.chain.height);
      const local = join(folder, `local-${round}`);
      copyChain(grown, local);
      const localMs = await cpuOfProgram(['index', 'rebuild', '--network', 'regtest', '--prefix', local]);
      ratios.push(builtMs / localMs);
      const readerStartMs = await cpuToLive(nats, built, node.chain.height);
      const localStartMs = await cpuOfProgram(['index', 'status', '--network', 'regtest', '--prefix', local]);
      working.push((builtMs - readerStartMs) / (localMs - localStartMs));
      const scriptsMs = await cpuOfProgram(['index', 'rebuild', '--scripts', '--network', 'regtest', '--prefix', local]);
      both.push((await cpuToLive(nats, join(folder, `both-${round}`), node.chain.height, '--rest-addresses')) / (localMs + scriptsMs));
      rmSync(local, { recursive: true });
    }
    console.log(
      `catching up over a fleet: ${shown(ratios)} times the CPU of index rebuild over local blocks, ${shown(working)} without the starts of ` +
        `reader and command; with the index by script ${shown(both)}`
    );
    const copy = join(folder, 'snapshot');
    const target = join(folder, 'target');
    const makeMs = await cpuOfProgram(['snapshot', 'make', copy, '--network', 'regtest', '--prefix', built]);
    const { signer, bytes } = JSON.parse(await runQuietly(runSnapshotCommand, ['verify', copy, '--json'])) as {
      readonly signer: string;
      readonly bytes: number;
    };
    const fetchMs = await cpuOfProgram(['snapshot', 'fetch', copy, '--trust', signer, '--network', 'regtest', '--prefix', target]);
    const startMs = await cpuToLive(nats, target, node.chain.height);
    console.log(
      `snapshot of ${(bytes / 1e6).toFixed(0)} MB: made ${makeMs.toFixed(0)}, fetched ${fetchMs.toFixed(0)}, live ${startMs.toFixed(0)} ms of CPU, ` +
        `${(((makeMs + fetchMs + startMs) / builtMs) * 100).toFixed(0)} % of building (${builtMs.toFixed(0)} ms)`
    );
  });
}

/**
 * CPU of a reader from its start until it answers at a height, without the rehearsal, which is a share of its own: there is none with a key.
 * `option`: one more, after which addresses are to be answered, too.
 */
async function cpuToLive(nats: Nats, prefix: string, height: number, option?: '--rest-addresses'): Promise<number> {
  const options = option === undefined ? [] : [option];
  const reader = await BenchReader.start(nats, prefix, ['--rest-auth', `--api-key=${KEY}`, ...options]);
  try {
    // What is asked is counted, too.
    await reader.untilAt(height, ASKING_PAUSE_MS);
    if (option !== undefined) await reader.untilAnswered('/api/blocks/tip/height');
    return reader.cpuMs;
  } finally {
    await reader.stop();
  }
}

class BenchReader {
  private constructor(
    readonly port: number,
    readonly child: ChildProcess
  ) {}

  static async start(nats: Nats, prefix: string, options: readonly string[]): Promise<BenchReader> {
    const port = await freePort();
    const fixed = ['--network=regtest', '--rest-warmup=indexed', '--log-level=none'];
    const own = [`--rest-nats=${nats.url}`, `--prefix=${prefix}`, `--http-port=${port}`];
    return new BenchReader(port, spawn(process.execPath, [PROGRAM, 'reader', ...own, ...fixed, ...options], { stdio: 'ignore' }));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get cpuMs(): number {
    return processCpu(this.pid);
  }

  /** Asks until the answer is of this height; the reader itself waits up to two seconds, unless it is catching up. */
  async untilAt(height: number, pauseMs = 20): Promise<void> {
    for (;;) {
      const asked = performance.now();
      const headers = { 'x-rest-min-tip': String(height), authorization: AUTHORIZATION };
      const reply = await fetch(`http://127.0.0.1:${this.port}/rest/chaininfo.json`, { headers }).catch(() => undefined);
      await reply?.arrayBuffer();
      if (reply?.status === 200 && Number(reply.headers.get('x-rest-tip')?.split(' ')[0]) >= height) return;
      if (performance.now() - asked < CATCHING_UP_MS) await pause(pauseMs);
    }
  }

  async untilAnswered(path: string): Promise<void> {
    const headers = { authorization: AUTHORIZATION };
    while ((await fetch(`http://127.0.0.1:${this.port}${path}`, { headers })).status !== 200) await pause(ASKING_PAUSE_MS);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }
}

/** In the place of what an earlier round left. */
function copyChain(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
}

async function withNode<T>(prefix: string, chain: string, use: (node: TestFullNode) => Promise<T>): Promise<T> {
  copyChain(chain, prefix);
  const node = await openRegtestNode({ prefix });
  const distrust = trustBlocks(node);
  try {
    return await use(node);
  } finally {
    distrust();
    await node.close();
  }
}

async function withFeed<T>(nats: Nats, prefix: string, chain: string, use: (feeding: FeedingNode) => Promise<T>): Promise<T> {
  copyChain(chain, prefix);
  // The log of another node's blocks has more work than this node, which would not lead.
  await runQuietly(runFleetCommand, ['reset-log', '--yes', '--network', 'regtest', `--rest-nats=${nats.url}`]);
  const feeding = await FeedingNode.open(nats.url, { prefix });
  const distrust = trustBlocks(feeding.node);
  feeding.start();
  await feeding.feed.settled();
  try {
    return await use(feeding);
  } finally {
    distrust();
    await feeding.feed.close();
    await feeding.node.close();
  }
}

async function addAll(node: TestFullNode, blocks: readonly Buffer[]): Promise<void> {
  for (const block of blocks) await addBlock(node, block);
}

async function cpuOf(run: () => Promise<unknown>): Promise<number> {
  await untilAtRest();
  const before = cpuMilliseconds();
  await run();
  return cpuMilliseconds() - before;
}

/** What a command prints. */
async function runQuietly(command: (args: readonly string[], io: Io) => Promise<number>, args: readonly string[]): Promise<string> {
  let said = '';
  const code = await command(args, {
    out: (text) => (said += text),
    err: (text) => (said += text),
    now: () => new Date()
  });
  if (code !== 0) throw new Error(said);
  return said;
}

const sumOf = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0);

/** Requests that were answered. */
async function load(url: string, perSecond: number): Promise<number> {
  const child = spawn(process.execPath, [AUTOCANNON, '-c', '8', '-R', String(perSecond), '-d', String(LOAD_SECONDS), '-j', url], {
    stdio: ['ignore', 'pipe', 'ignore']
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  await once(child, 'close');
  return (JSON.parse(said) as { '2xx': number })['2xx'];
}

/** CPU of a process of its own, as a reader is one. */
async function cpuOfProgram(args: readonly string[]): Promise<number> {
  const before = endedCpu();
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: 'ignore', env: { ...process.env, ...FEEDING } });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return endedCpu() - before;
}

/** Of this process' children that have ended, in milliseconds. */
function endedCpu(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * CLOCK_TICKS_MS;
}

/** Of a process and its threads, in milliseconds. */
function processCpu(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICKS_MS;
}

const serverCpu = ({ servers }: Nats): number => servers.reduce((sum, { pid }) => sum + processCpu(pid ?? 0), 0);

const shown = (list: readonly number[], digits = 2): string =>
  [...list]
    .sort((a, b) => a - b)
    .map((each) => each.toFixed(digits))
    .join(' / ');

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
