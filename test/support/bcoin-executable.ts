// bcoin's own executable, run as operators run it: a node on regtest, without peers.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export class BcoinExecutable {
  /** Everything that was printed. */
  output = '';
  readonly #child: ChildProcess;

  constructor(executable: string, ...options: string[]) {
    this.#child = spawn(executable, ['--network', 'regtest', '--listen', 'false', '--no-wallet', ...options], {
      env: { ...process.env, NODE_BACKEND: process.env['NODE_BACKEND'] ?? 'js' }
    });
    const listen = (text: Buffer): void => {
      this.output += text.toString();
    };
    this.#child.stdout?.on('data', listen);
    this.#child.stderr?.on('data', listen);
  }

  /** Resolves when the output contains `text`. @throws Error when the process ends before. */
  printed(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#child.stdout?.on('data', () => {
        if (this.output.includes(text)) resolve();
      });
      this.#child.once('exit', () => {
        reject(new Error(`bcoin stopped before it said '${text}': ${this.output}`));
      });
    });
  }

  /** Resolves with the exit code when the process has ended and all its output was read. */
  async ended(): Promise<number> {
    const [code] = (await once(this.#child, 'close')) as [number];
    return code;
  }

  /** Resolves when the process has ended after a signal, and all its output was read. */
  async stop(signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.kill(signal);
    await closed;
  }

  /** Ends the process if it is still running. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

/** The first reply that is not the gate's. */
export async function answerOf(url: string): Promise<Response> {
  for (;;) {
    const response = await fetch(url);
    if (response.status !== 503) return response;
  }
}
