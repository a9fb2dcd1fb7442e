// Other servers of the Electrum protocol, with their documented options. They read the chain from one Bitcoin Core, which has an index of
// transactions, as both require.

import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/bcoin/regtest-node';
import { RUN_FOLDER } from '../measure/run';
import { startBitcoind, type Bitcoind } from '../serve/bitcoind';
import { close, end, endWithUs, pidOf } from '../serve/server-process';
import { LineServer, type Running } from './server';
import type { WalletChain } from './wallet-chain';

export const FULCRUM = 'Fulcrum';
export const ELECTRUMX = 'ElectrumX';

/** `program`: of a bitcoind. */
export function startNode(program: string, chain: WalletChain): Promise<Bitcoind> {
  const tip = { height: chain.height, hash: chain.tipHash };
  return startBitcoind({ program, chain, tip, flags: [], readyPath: '/rest/chaininfo.json' });
}

/** A peer that is not started yet. `sessions`: most that it must take. */
export type MakePeer = (program: string, node: Bitcoind, sessions: number) => Promise<LineServer>;

export const fulcrum: MakePeer = async (program, node) => {
  const linePort = await freePort();
  const folder = join(RUN_FOLDER, 'fulcrum');
  mkdirSync(folder, { recursive: true });
  const settings = join(RUN_FOLDER, 'fulcrum.conf');
  // It must not look for other servers. Clients of its own machine have no limits.
  writeFileSync(settings, 'peering = false\nannounce = false\n');
  const [data, lines, rpc] = [folder, `127.0.0.1:${linePort}`, `127.0.0.1:${node.port}`];
  const log = `${folder}.log`;
  return new LineServer({
    name: FULCRUM,
    linePort,
    folder,
    log,
    nodePid: node.pid,
    open: () => run(program, ['-D', data, '-t', lines, '-b', rpc, '-K', node.cookieFile, '-q', settings], {}, log)
  });
};

/** As on the main network; on regtest it would keep data for undoing all blocks. */
const ELECTRUMX_REORG_LIMIT = 200;

export const electrumX: MakePeer = async (program, node, sessions) => {
  const linePort = await freePort();
  const folder = join(RUN_FOLDER, 'electrumx');
  mkdirSync(folder, { recursive: true });
  const settings = {
    COIN: 'Bitcoin',
    NET: 'regtest',
    DB_ENGINE: 'leveldb',
    DB_DIRECTORY: folder,
    DAEMON_URL: `http://${readFileSync(node.cookieFile, 'latin1')}@127.0.0.1:${node.port}/`,
    SERVICES: `tcp://127.0.0.1:${linePort}`,
    REORG_LIMIT: String(ELECTRUMX_REORG_LIMIT),
    MAX_SESSIONS: String(sessions),
    // No limits for clients.
    COST_SOFT_LIMIT: '0',
    COST_HARD_LIMIT: '0',
    // It must not look for other servers.
    PEER_DISCOVERY: 'off',
    PEER_ANNOUNCE: '',
    LOG_LEVEL: 'error',
    ALLOW_ROOT: 'yes'
  };
  const log = `${folder}.log`;
  return new LineServer({
    name: ELECTRUMX,
    linePort,
    folder,
    log,
    nodePid: node.pid,
    // Since 1.18 it pads what it sends.
    holdsBack: true,
    open: () => run(program, [], settings, log)
  });
};

/** `log`: a file for what it says. */
function run(program: string, flags: readonly string[], env: Readonly<Record<string, string>>, log: string): Promise<Running> {
  const output = openSync(log, 'a');
  const child = spawn(program, flags, { stdio: ['ignore', output, output], env: { ...process.env, ...env } });
  closeSync(output);
  endWithUs(child);
  return Promise.resolve({ pid: pidOf(child), close: () => close(child), stop: () => end(child) });
}
