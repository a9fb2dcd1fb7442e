// A bcoin node in a separate process, asked over its HTTP servers.

import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { firstValueFrom, Subject } from 'rxjs';
import { bcoinTarget } from './bcoin';
import { freePort } from './regtest-node';

/** The folder of the bcoin under test. */
export const bcoinFolder = dirname(createRequire(__filename).resolve(join(bcoinTarget, 'package.json')));

/** Between two questions to a node that is not ready, which needs the processor itself. */
const LOOK_MS = 20;

export interface ProcessPorts {
  readonly http: number;
  readonly wallet: number;
}

export class BcoinProcess {
  /** All of its output so far. */
  output = '';
  readonly #child: ChildProcess;
  readonly #happened = new Subject<void>();
  #code: number | null | undefined;

  /** `args`: of Node.js, which are the program with its options, or of another executable. */
  constructor(
    args: readonly string[],
    readonly ports: ProcessPorts,
    env: Readonly<Record<string, string>> = {},
    executable = process.execPath
  ) {
    this.#child = spawn(executable, [...args], {
      env: { ...process.env, NODE_BACKEND: process.env['NODE_BACKEND'] ?? 'js', ...env }
    });
    const listen = (text: Buffer): void => {
      this.output += text.toString();
      this.#happened.next();
    };
    this.#child.stdout?.on('data', listen);
    this.#child.stderr?.on('data', listen);
    this.#child.once('close', (code) => {
      this.#code = code;
      this.#happened.next();
    });
  }

  /** On regtest in `prefix`, without peers. `args` go to Node.js, `options` to bcoin. */
  static async regtest(args: readonly string[], prefix: string, options: readonly string[] = []): Promise<BcoinProcess> {
    const ports = { http: await freePort(), wallet: await freePort() };
    return new BcoinProcess(
      [
        ...args,
        '--network',
        'regtest',
        '--prefix',
        prefix,
        '--listen',
        'false',
        '--http-port',
        `${ports.http}`,
        '--wallet-http-port',
        `${ports.wallet}`,
        ...options
      ],
      ports
    );
  }

  /** bcoin's own executable as operators run it: on regtest, without peers, and without a wallet. */
  static executable(path: string, prefix: string, http: number, ...options: string[]): BcoinProcess {
    const args = ['--network', 'regtest', '--prefix', prefix, '--listen', 'false', '--no-wallet', '--http-port', `${http}`, ...options];
    return new BcoinProcess(args, { http, wallet: 0 }, {}, path);
  }

  /** The exit code once the process has ended; null if it was killed. */
  get code(): number | null | undefined {
    return this.#code;
  }

  /** Resolves when its output matches. @throws Error when the process ends before */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.output);
      if (found) return found;
      if (this.#code !== undefined) throw new Error(`the node ended before it printed ${String(pattern)}: ${this.output}`);
      await firstValueFrom(this.#happened);
    }
  }

  /** Resolves when it has ended, with its exit code. */
  async ended(): Promise<number | null> {
    while (this.#code === undefined) await firstValueFrom(this.#happened);
    return this.#code;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Its first reply that is not the gate's. */
  async answer(path: string): Promise<Response> {
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${this.ports.http}${path}`);
      if (response.status !== 503) return response;
      await setTimeout(LOOK_MS);
    }
  }

  /** For the end of a test, whether it passed or not. */
  async kill(): Promise<void> {
    if (this.#code !== undefined) return;
    this.signal('SIGKILL');
    await this.ended();
  }
}
