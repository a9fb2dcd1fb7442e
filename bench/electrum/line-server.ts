// Servers of the Electrum protocol, each in a separate process: a bcoin node with the built plugin, and Fulcrum if there is one.

import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/regtest-node';
import { startBitcoind } from '../serve/bitcoind';
import { untilAtRest } from '../serve/process-figures';
import { end, pidOf, startBcoin, type ServerProcess } from '../serve/server-process';
import { RUN_FOLDER } from '../serve/serving-chain';
import { loopWatch, type Watch } from '../scripts/watched-server';
import { LineProcess } from './line-client';
import type { Connected } from './block-clock';
import type { WalletChain } from './wallet-chain';

export interface LineServer extends Pick<ServerProcess, 'pid' | 'stop'> {
  /** Port for lines. */
  readonly linePort: number;
}

export interface OwnServer extends LineServer {
  readonly httpPort: number;
  readonly watch: Watch;
  /** The last block that was connected; to be called after a block. */
  connected(): Connected;
}

/** `folder`: of a built checkout. */
export async function startOwn(chain: WalletChain, name: string, sessions: number, folder = resolve('.')): Promise<OwnServer> {
  const linePort = await freePort();
  const clock = join(RUN_FOLDER, `${name}.clock`);
  const preload = loopWatch(name);
  const server = await startBcoin(chain, name, {
    folder,
    flags: [
      '--rest-addresses=true',
      '--rest-scrub=0',
      `--rest-electrum=127.0.0.1:${linePort}`,
      `--rest-electrum-sessions=${sessions}`,
      '--listen=false'
    ],
    plugins: [join(__dirname, 'block-clock.js')],
    readyPath: '/api/blocks/tip/height',
    nodeFlags: ['--expose-gc', ...preload.nodeFlags],
    env: { ...preload.env, BLOCK_CLOCK: clock }
  });
  if (process.env['NODE_FLAGS'] === undefined) await untilAtRest(server.pid);
  const connected = (): Connected => JSON.parse(readFileSync(clock, 'utf8')) as Connected;
  return { pid: server.pid, stop: () => server.stop(), linePort, httpPort: server.port, watch: preload.watchOf(server), connected };
}

export interface FulcrumStart {
  readonly program: string;
  /** The node whose chain it reads. */
  readonly bitcoind: string;
  readonly chain: WalletChain;
}

const PATIENCE_MS = 300_000;
const RETRY_MS = 500;

/** Starts Fulcrum with its documented options. It listens once it has read the chain. */
export async function startFulcrum({ program, bitcoind, chain }: FulcrumStart): Promise<LineServer> {
  const tip = { height: chain.height, hash: chain.tipHash };
  const core = await startBitcoind({ program: bitcoind, chain, tip, flags: [], readyPath: '/rest/chaininfo.json' });
  const folder = join(RUN_FOLDER, 'fulcrum');
  mkdirSync(folder, { recursive: true });
  const settings = join(folder, 'fulcrum.conf');
  // It must not look for other servers.
  writeFileSync(settings, 'peering = false\nannounce = false\n');
  const linePort = await freePort();
  const child = spawn(
    program,
    ['-D', join(folder, 'data'), '-t', `127.0.0.1:${linePort}`, '-b', `127.0.0.1:${core.port}`, '-K', core.cookieFile, '-q', settings],
    { stdio: ['ignore', 'ignore', 'inherit'] }
  );
  process.once('exit', () => {
    child.kill('SIGKILL');
  });
  const stop = async (): Promise<void> => {
    await end(child);
    await core.stop();
  };
  const client = new LineProcess();
  try {
    const last = performance.now() + PATIENCE_MS;
    while (!(await client.run({ type: 'reach', port: linePort }))) {
      if (performance.now() > last || child.exitCode !== null) throw new Error(`expected ${program} to listen`);
      await pause(RETRY_MS);
    }
  } catch (error) {
    await stop();
    throw error;
  } finally {
    client.close();
  }
  await untilAtRest(pidOf(child));
  return { pid: pidOf(child), linePort, stop };
}
