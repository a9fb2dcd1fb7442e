// HAProxy with the configuration of docs/haproxy.cfg, on ports of a test and in front of its servers.

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeOwnCertificate } from '../../../lib/server/ports/own-certificate';
import { newFolder } from '../process/folders';
import { untilClosed } from '../client/http';
import { projectFolder } from '../process/project-folder';
import { freePort } from '../bcoin/regtest-node';
import { until } from '../expectations/until';
import type { Context } from 'mocha';

/** Where Debian has it. */
const PROGRAM = process.env['HAPROXY_BIN'] ?? '/usr/sbin/haproxy';

export const hasHaproxy = existsSync(PROGRAM);

/** Skips a test, or a group of tests, and says so, where HAProxy is missing. In CI it fails. */
export function needsHaproxy(context: Context): void {
  if (hasHaproxy) return;
  if (process.env['CI'] === 'true') throw new Error('HAProxy is missing: apt-get install haproxy');
  console.log('      skipped: there is no HAProxy on this machine (apt-get install haproxy, or HAPROXY_BIN)');
  context.skip();
}

/** The ports of a server behind it. */
export interface ProxiedServer {
  readonly http: number;
  readonly electrum: number;
}

export class Haproxy {
  readonly #child: ChildProcess;
  readonly #socket: string;

  private constructor(
    child: ChildProcess,
    socket: string,
    readonly ports: ProxiedServer,
    /** Of the certificate, for clients. */
    readonly ca: string
  ) {
    this.#child = child;
    this.#socket = socket;
  }

  /**
   * In front of two servers, which take the places of `reader1` and `reader2`. `namesWallets`: it tells them whose connection of the Electrum
   * protocol it passes on.
   */
  static async open(servers: readonly [ProxiedServer, ProxiedServer], { namesWallets = false } = {}): Promise<Haproxy> {
    const folder = await newFolder();
    const { certificate, key } = await makeOwnCertificate('127.0.0.1');
    const [pem, socket, config] = ['rest.pem', 'admin.sock', 'haproxy.cfg'].map((name) => join(folder, name)) as [string, string, string];
    await writeFile(pem, certificate + key);
    const ports = { http: await freePort(), electrum: await freePort() };
    let text = await readFile(join(projectFolder, 'docs/haproxy.cfg'), 'utf8');
    const [first, second] = servers;
    const name = namesWallets ? 'send-proxy-v2 ' : '';
    for (const [from, to] of [
      ['/etc/haproxy/rest.pem', pem],
      ['/run/haproxy/admin.sock', socket],
      ['bind :443 ', `bind 127.0.0.1:${ports.http} `],
      ['bind :50002 ', `bind 127.0.0.1:${ports.electrum} `],
      ['10.0.0.11:8332 check', `127.0.0.1:${first.http} check`],
      ['10.0.0.12:8332 check', `127.0.0.1:${second.http} check`],
      ['10.0.0.11:50001 check port 8332', `127.0.0.1:${first.electrum} ${name}check port ${first.http}`],
      ['10.0.0.12:50001 check port 8332', `127.0.0.1:${second.electrum} ${name}check port ${second.http}`]
    ] as const) {
      if (!text.includes(from)) throw new Error(`docs/haproxy.cfg should have ${from}`);
      text = text.replaceAll(from, to);
    }
    await writeFile(config, text);
    await promisify(execFile)(PROGRAM, ['-c', '-f', config]);
    const child = spawn(PROGRAM, ['-db', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
    await until(() => {
      if (child.exitCode !== null) throw new Error(`HAProxy has ended: ${said}`);
      return existsSync(socket);
    });
    return new Haproxy(child, socket, ports, certificate);
  }

  /** A command of its runtime API; gives what it says. */
  async say(command: string): Promise<string> {
    const socket = connect(this.#socket);
    socket.write(`${command}\n`);
    return (await untilClosed(socket)).toString();
  }

  /** Whether new clients go to a server, for both protocols. */
  async set(server: 'reader1' | 'reader2', state: 'ready' | 'drain'): Promise<void> {
    await this.say(`set server rest/${server} state ${state}; set server electrum/${server} state ${state}`);
  }

  /** Resolves once the checks have found the server as it is. */
  async untilSeen(server: 'reader1' | 'reader2', state: 'UP' | 'DOWN'): Promise<void> {
    const isSeen = async (): Promise<boolean> => {
      const lines = (await this.say('show stat')).split('\n').filter((line) => line.includes(`,${server},`));
      return lines.length === 2 && lines.every((line) => line.split(',')[17]?.startsWith(state));
    };
    while (!(await isSeen())) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    await once(this.#child, 'close');
  }
}
