// Bitcoin Core on the same chain, if BITCOIND names one: the blocks come from a file in its own
// format, the pool over its RPC. Signatures of the large blocks are random bytes: these blocks
// are below the one that it is told to assume valid.

import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/bcoin/regtest-node';
import { RUN_FOLDER } from '../measure/run';
import { fetchBody } from './fetch-body';
import { fillPool } from './fill-pool';
import { end, endWithUs, pidOf, untilAnswers, type ServerProcess } from './server-process';
import type { ServingChain } from './serving-chain';

const RETRY_MS = 500;

export interface BitcoindStart {
  readonly program: string;
  /** Of its folder; bitcoind unless given. */
  readonly name?: string;
  readonly chain: ServingChain;
  /** The last block of the chain. */
  readonly tip: { readonly height: number; readonly hash: string };
  readonly flags: readonly string[];
  /** A path that is answered once it is ready. */
  readonly readyPath: string;
}

export interface Bitcoind extends ServerProcess {
  readonly folder: string;
  /** User and password of its RPC. */
  readonly cookieFile: string;
}

export async function startBitcoind({ program, name = 'bitcoind', chain, tip, flags, readyPath }: BitcoindStart): Promise<Bitcoind> {
  const folder = join(RUN_FOLDER, name);
  mkdirSync(folder, { recursive: true });
  const cookieFile = join(folder, 'regtest/.cookie');
  const port = await freePort();
  const child = spawn(
    program,
    [
      '-regtest',
      `-datadir=${folder}`,
      '-server',
      '-rest',
      '-txindex',
      '-listen=0',
      '-connect=0',
      '-dnsseed=0',
      '-maxtipage=999999999',
      '-rpcbind=127.0.0.1',
      '-rpcallowip=127.0.0.1',
      `-rpcport=${port}`,
      '-rpcworkqueue=64',
      '-checkpoints=0',
      '-checkblockindex=0',
      '-checkmempool=0',
      `-assumevalid=${tip.hash}`,
      `-loadblock=${chain.blockFile}`,
      ...flags,
      ...moreFlags()
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] }
  );
  endWithUs(child);
  try {
    await untilAnswers(child, port, '/rest/chaininfo.json');
    while (!(await fetchBody(port, '/rest/chaininfo.json')).body.includes(`"blocks":${tip.height},`)) await pause(RETRY_MS);
    await untilAnswers(child, port, readyPath);
    await fillPool(port, chain, readFileSync(cookieFile, 'latin1'));
  } catch (error) {
    await end(child);
    throw error;
  }
  return { pid: pidOf(child), port, folder, cookieFile, stop: () => end(child) };
}

/** `BITCOIND_FLAGS`: options that a build with another policy needs to accept the pool's transactions. */
function moreFlags(): string[] {
  return process.env['BITCOIND_FLAGS']?.split(' ') ?? [];
}
