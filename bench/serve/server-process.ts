// Servers under measurement, each in a separate process: a bcoin node as operators start it,
// and a minimal server on Node's own HTTP server.

import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bcoinTarget } from '../../test/support/bcoin/bcoin';
import { freePort } from '../../test/support/bcoin/regtest-node';
import { fetchBody } from './fetch-body';
import { fillPool } from './fill-pool';
import { copyOf, type ServingChain } from './serving-chain';

export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

const PATIENCE_MS = 180_000;
const RETRY_MS = 200;
const BODIES_MS = 50;

/** Length of the work queue: enough that no request of a measurement is refused. */
const QUEUE = 64;

const FLAGS = [
  '--network=regtest',
  '--listen=false',
  '--no-wallet',
  '--no-auth',
  '--workers=false',
  '--log-console=false',
  '--log-file=false',
  '--index-tx',
  '--http-host=127.0.0.1'
];

export interface PluginStart {
  /** Folder of a built checkout of the plugin. */
  readonly folder: string;
  readonly flags: readonly string[];
  /** Other plugins: paths of their programs. */
  readonly plugins?: readonly string[];
  /** A path that is answered once it is ready. */
  readonly readyPath: string;
  /** Options of Node itself, and variables of its environment. */
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** bcoin on a copy of the chain with a filled pool; without the plugin unless `plugin` is given. */
export async function startBcoin(chain: ServingChain, name: string, plugin?: PluginStart): Promise<ServerProcess> {
  const server = await openBcoin(copyOf(chain, name), plugin);
  await fillPool(server.port, chain);
  return server;
}

export interface ClosableProcess extends ServerProcess {
  /** Ends it as its operator would, so that its data is whole. */
  close(): Promise<void>;
}

/** bcoin on the data in a folder, with an empty pool. */
export async function openBcoin(folder: string, plugin?: PluginStart): Promise<ClosableProcess> {
  const port = await freePort();
  const program = createRequire(__filename).resolve(join(bcoinTarget, 'bin/node'));
  const flags = [...FLAGS, `--prefix=${folder}`, `--http-port=${port}`];
  if (plugin !== undefined)
    flags.push(
      `--plugins=${[plugin.folder, ...(plugin.plugins ?? [])].join(',')}`,
      '--rest-warmup=indexed',
      `--rest-work-queue=${QUEUE}`,
      ...plugin.flags
    );
  const child = spawn(process.execPath, [...nodeFlags(), ...(plugin?.nodeFlags ?? []), program, ...flags], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_BACKEND: process.env['NODE_BACKEND'] ?? 'js', ...plugin?.env }
  });
  endWithUs(child);
  await untilAnswers(child, port, plugin?.readyPath ?? '/');
  return { pid: pidOf(child), port, stop: () => end(child), close: () => close(child) };
}

/** Profiles are written by processes that exit, not by processes that are killed. */
const END_WHEN_TOLD = '--import=data:text/javascript,process.once("SIGINT",()=>process.exit())';

/** `NODE_FLAGS=--cpu-prof` and the like, for the nodes under measurement alone. */
function nodeFlags(): string[] {
  const flags = process.env['NODE_FLAGS'];
  return flags === undefined ? [] : [...flags.split(' '), END_WHEN_TOLD];
}

export interface BareAnswer {
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
}

export interface BareProcess extends ServerProcess {
  /** What it replies to a path from now on. */
  answer(answer: BareAnswer): Promise<void>;
}

export async function startBare(): Promise<BareProcess> {
  // From where npm runs: programs that are not TypeScript are not beside the compiled ones.
  const child = fork(resolve('bench/serve/bare-server.mjs'), { execArgv: [], serialization: 'advanced' });
  const [port] = (await once(child, 'message')) as [number];
  const answer = async (wanted: BareAnswer): Promise<void> => {
    child.send(wanted);
    await once(child, 'message');
  };
  return { pid: pidOf(child), port, answer, stop: () => end(child) };
}

export async function untilAnswers(child: ChildProcess, port: number, path: string): Promise<void> {
  const last = performance.now() + PATIENCE_MS;
  while (performance.now() < last) {
    if (child.exitCode !== null) throw new Error(`expected ${child.spawnfile} to serve, it ended with ${child.exitCode}`);
    const reply = await fetchBody(port, path).catch(() => undefined);
    if (reply?.status === 200) return;
    await pause(RETRY_MS);
  }
  throw new Error(`expected ${path} to be served within ${PATIENCE_MS / 1_000} s`);
}

const running = new Set<ChildProcess>();

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** An interrupted benchmark must not leave processes behind. */
export function endWithUs(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

export function pidOf({ pid, spawnfile }: ChildProcess): number {
  if (pid === undefined) throw new Error(`could not start ${spawnfile}`);
  return pid;
}

/** Asks it to end, and waits until it has. @throws Error when it does not */
export async function close(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) });
  child.kill('SIGINT');
  await gone;
}

/** Kills it: its data is a copy, so it need not close properly unless profiles are to be written. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(nodeFlags().length > 0 ? 'SIGINT' : 'SIGKILL');
  await gone;
  await pause(BODIES_MS);
}
