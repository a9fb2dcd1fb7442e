// Servers under measurement, each in a separate process: a bcoin node as operators start it,
// and a minimal server on Node's own HTTP server.

import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bcoinTarget } from '../../test/support/bcoin';
import { freePort } from '../../test/support/regtest-node';
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
  const folder = copyOf(chain, name);
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
  // An interrupted benchmark must not leave processes behind.
  process.once('exit', () => {
    child.kill('SIGKILL');
  });
  await untilAnswers(child, port, plugin?.readyPath ?? '/');
  await fillPool(port, chain);
  return { pid: pidOf(child), port, stop: () => end(child) };
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
  const child = fork(join(__dirname, 'bare-server.mjs'), { execArgv: [], serialization: 'advanced' });
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

export function pidOf({ pid, spawnfile }: ChildProcess): number {
  if (pid === undefined) throw new Error(`could not start ${spawnfile}`);
  return pid;
}

/** Kills it: its data is a copy, so it need not close properly unless profiles are to be written. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(nodeFlags().length > 0 ? 'SIGINT' : 'SIGKILL');
  await gone;
  await pause(BODIES_MS);
}
