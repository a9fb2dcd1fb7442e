// Electrum's own wallet, as Debian packages it: a daemon that is controlled over its JSON-RPC.

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../support/bcoin/regtest-node';
import { basicAuth } from '../../support/client/http';

const USER = 'wallet';
const PASSWORD = 'wallet';
/** Pause between two checks whether something has happened. */
const POLL_MS = 50;

/** A transaction as the wallet knows it. */
interface ElectrumTransaction {
  readonly txid: string;
  /** 0: in the pool; -1: in the pool with a parent that is also in the pool. */
  readonly height: number;
  readonly confirmations: number;
}

/** In bitcoins. */
interface ElectrumBalance {
  readonly confirmed: string;
  readonly unconfirmed?: string;
}

interface ElectrumInfo {
  readonly connected: boolean;
  readonly blockchain_height: number;
  readonly server_height: number;
}

/** The version of the program; undefined: it is not installed. */
export async function electrumVersion(): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('electrum', ['--offline', 'version']);
    return stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export class ElectrumDaemon {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #port: number;
  /** Its output. */
  #output = '';

  private constructor(child: ChildProcess, port: number) {
    this.#process = child;
    this.#ended = once(child, 'exit');
    this.#port = port;
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (this.#output += text.toString()));
  }

  /** `server`: host, port, and `t` for TCP or `s` for TLS. `folder`: where it keeps all its data. */
  static async open(folder: string, server: string): Promise<ElectrumDaemon> {
    const rpcport = await freePort();
    await mkdir(join(folder, 'regtest'), { recursive: true });
    const config = { rpchost: '127.0.0.1', rpcport, rpcuser: USER, rpcpassword: PASSWORD, check_updates: false, config_version: 3 };
    await writeFile(join(folder, 'regtest/config'), JSON.stringify(config));
    const child = spawn('electrum', ['--regtest', '--dir', folder, 'daemon', '--server', server, '--oneserver']);
    const daemon = new ElectrumDaemon(child, rpcport);
    await daemon.until(async () => {
      if (child.exitCode !== null) throw new Error(`electrum ended: ${daemon.#output}`);
      return daemon.info().then(
        () => true,
        () => false
      );
    });
    return daemon;
  }

  info(): Promise<ElectrumInfo> {
    return this.call('getinfo');
  }

  /** By txid. */
  async history(): Promise<ReadonlyMap<string, ElectrumTransaction>> {
    const { transactions } = await this.call<{ readonly transactions: readonly ElectrumTransaction[] }>('onchain_history', {});
    return new Map(transactions.map((transaction) => [transaction.txid, transaction]));
  }

  /** What the wallet, or the one at `path`, has in satoshis. Its own change counts as confirmed. */
  async totals(path?: string): Promise<{ readonly confirmed: number; readonly unconfirmed: number }> {
    const { confirmed, unconfirmed } = await this.call<ElectrumBalance>('getbalance', path === undefined ? {} : { wallet: path });
    return { confirmed: inSatoshis(confirmed), unconfirmed: inSatoshis(unconfirmed) };
  }

  /** @throws Error with the daemon's message if the call fails */
  async call<T>(method: string, params: readonly unknown[] | Readonly<Record<string, unknown>> = []): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/`, {
      method: 'POST',
      headers: { Authorization: basicAuth(`${USER}:${PASSWORD}`) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    });
    const { result, error } = (await response.json()) as { readonly result: T; readonly error?: { readonly message: string } };
    if (error !== undefined) throw new Error(error.message);
    return result;
  }

  /** Asks until a condition holds. A condition that never holds ends with the test's timeout. */
  async until(condition: () => Promise<boolean>): Promise<void> {
    while (!(await condition())) await delay(POLL_MS);
  }

  async close(): Promise<void> {
    await this.call('stop').catch(() => this.#process.kill());
    await this.#ended;
  }
}

export const MISSING =
  'electrum is not installed; on Debian: apt-get install --no-install-recommends electrum (these tests were written for 4.3.4)';

export const inBitcoins = (satoshis: number): string => String(satoshis / 1e8);
export const inSatoshis = (bitcoins = '0'): number => Math.round(Number(bitcoins) * 1e8);
