// Many sessions with many subscriptions, and blocks that touch some of them: the time until everybody was notified, how long other clients
// waited meanwhile, how long the event loop was blocked, and the memory that all of it takes.

import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../measure/percentile';
import { ownMemory } from '../measure/process-load';
import { cpuMicroseconds } from '../serve/process-figures';
import { LineProcess, type Told, type Wait, type Waits } from './line-client';
import { TOUCHED, touchedBy, type WalletChain } from './wallet-chain';
import { hashOf } from './wallet-scripts';
import type { LoopFigures } from '../scripts/watched-server';
import type { OwnServer } from './own-server';

/** Number of sessions. */
export const LOAD_SESSIONS = 1_000;
const SUBSCRIPTIONS = 100;
/** Blocks that come before anybody is subscribed: the first warms up the code, the second is measured. */
const ALONE = 2;
/** How long the requests of others are timed when nobody has subscribed. */
const ALONE_MS = 1_000;
const SETTLING_MS = 2_000;
/** How long the requests of others are timed before the block. */
const QUIET_MS = 500;

export interface BlockFigures {
  readonly name: string;
  readonly scripts: number;
  /** From the block's connection until everybody was notified. */
  readonly toldMs: number | undefined;
  /** From sending the block to the node until its connection. */
  readonly connectingMs: number;
  /** Processor time of the whole process, from the block's connection until everybody was notified. */
  readonly cpuMs: number;
  readonly pings: SmallFigures;
  readonly states: SmallFigures;
  /** Longest turn of the event loop, in milliseconds of processor time: up to the connection, and after it. */
  readonly turnBefore: number;
  readonly turnBehind: number;
  /** Length of all notifications. */
  readonly bytes: number;
}

export interface SmallFigures {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

export interface MemoryFigures {
  readonly name: string;
  /** Heap and buffers of JavaScript, without garbage. */
  readonly heldBytes: number;
  /** Anonymous resident memory of the process. */
  readonly ownBytes: number;
}

export interface LoadFigures {
  readonly blocks: readonly BlockFigures[];
  readonly memory: readonly MemoryFigures[];
}

export async function measureLoad(server: OwnServer, chain: WalletChain, say: (line: string) => void): Promise<LoadFigures> {
  const memory: MemoryFigures[] = [];
  const blocks: BlockFigures[] = [];
  const weigh = async (name: string): Promise<void> => {
    await pause(SETTLING_MS);
    const { loop } = await server.watch(() => Promise.resolve());
    memory.push({ name, heldBytes: loop.heldBytes, ownBytes: ownMemory(server.pid) });
  };
  const asking = new LineProcess();
  const holding = new LineProcess();
  try {
    for (let i = 0; i < ALONE; i++) {
      const figures = await follow(server, chain, i, asking);
      if (i > 0) blocks.push({ ...figures, name: 'nobody subscribed' });
    }
    await weigh('without sessions');
    say(`${LOAD_SESSIONS * SUBSCRIPTIONS} subscriptions`);
    await holding.run({ type: 'hold', port: server.linePort, scripts: subscriptions(chain.coming.length) });
    await weigh(`${LOAD_SESSIONS * SUBSCRIPTIONS} subscriptions`);
    for (let i = ALONE; i < chain.coming.length; i++) blocks.push(await follow(server, chain, i, asking, holding));
    await weigh('behind the blocks');
    holding.close();
    await pause(ALONE_MS);
    await weigh('all gone');
    return { blocks, memory };
  } finally {
    asking.close();
    holding.close();
  }
}

/** Scripts of each session: the same number of scripts that each block pays to, and others that nobody pays to. */
function subscriptions(blocks: number): string[][] {
  const share = TOUCHED / LOAD_SESSIONS;
  const touched = Array.from({ length: blocks - ALONE }, (_, i) => touchedBy(ALONE + i));
  return Array.from({ length: LOAD_SESSIONS }, (_, session) => {
    const paid = touched.flatMap((scripts) => scripts.slice(session * share, (session + 1) * share));
    const quiet = Array.from({ length: SUBSCRIPTIONS - paid.length }, (__, i) => hashOf(`watched ${session} ${i}`));
    return [...paid, ...quiet];
  });
}

/** `holding`: the process whose sessions will be notified; undefined: nobody is subscribed. */
async function follow(
  server: OwnServer,
  { coming }: WalletChain,
  block: number,
  asking: LineProcess,
  holding?: LineProcess
): Promise<BlockFigures> {
  const { pid, linePort, httpPort } = server;
  let [sentAt, cpu] = [0, 0];
  const { result, loop } = await server.watch(async (): Promise<{ told: Told | undefined; waits: Waits }> => {
    await asking.run({ type: 'small', port: linePort, httpPort });
    await pause(QUIET_MS);
    sentAt = performance.timeOrigin + performance.now();
    const telling = holding?.run({ type: 'told', scripts: TOUCHED, headers: LOAD_SESSIONS });
    await submit(httpPort, coming[block] ?? '');
    if (telling === undefined) await pause(ALONE_MS);
    const told = await telling;
    cpu = cpuMicroseconds(pid);
    return { told, waits: await asking.run({ type: 'stop' }) };
  });
  const { at: connectedAt, cpu: cpuBefore } = server.connected();
  const endAt = result.told?.lastAt ?? connectedAt + ALONE_MS;
  const during = (waits: readonly Wait[]): SmallFigures =>
    smallFigures(waits.filter(({ at, ms }) => at + ms >= connectedAt && at <= endAt));
  return {
    name: `block ${block}`,
    scripts: holding === undefined ? 0 : TOUCHED,
    toldMs: result.told && result.told.lastAt - connectedAt,
    connectingMs: connectedAt - sentAt,
    cpuMs: (cpu - cpuBefore) / 1_000,
    pings: during(result.waits.pings),
    states: during(result.waits.states),
    turnBefore: longest(loop, ({ at }) => at >= sentAt && at < connectedAt),
    turnBehind: longest(loop, ({ at }) => at >= connectedAt && at <= endAt),
    bytes: result.told?.bytes ?? 0
  };
}

function longest({ turns }: LoopFigures, isWanted: (turn: { readonly at: number }) => boolean): number {
  return Math.max(0, ...turns.filter(isWanted).map(({ cpuMs }) => cpuMs));
}

function smallFigures(waits: readonly Wait[]): SmallFigures {
  const times = waits.map(({ ms }) => ms);
  return { count: times.length, p50: percentile(times, 0.5), p99: percentile(times, 0.99), longest: percentile(times, 1) };
}

/** Submits a block over the node's RPC. @throws Error when the node refuses the block */
function submit(port: number, block: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ id: 1, method: 'submitblock', params: [block] });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
    const asked = request({ host: '127.0.0.1', port, method: 'POST', path: '/', headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const { result, error } = JSON.parse(Buffer.concat(parts).toString()) as { result: unknown; error: { message: string } | null };
        if (error === null && result === null) resolve();
        else reject(new Error(`expected the node to take the block, it says ${error?.message ?? String(result)}`));
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
