// A child process that a test kills.

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { compiledProgram } from './compiled';

export class KilledChild {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  /** What it wrote to its standard error. */
  #words = '';

  /** `program`: the name of a file of this folder. */
  constructor(program: string, args: readonly (string | number)[]) {
    this.#child = fork(compiledProgram(program), args.map(String), { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    this.#closed = once(this.#child, 'close');
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#words += text.toString();
    });
  }

  /** Resolves when it has sent such a message, or has ended: false. */
  said(isWanted: (message: unknown) => boolean): Promise<boolean> {
    const heard = new Promise<true>((resolve) => {
      this.#child.on('message', (message) => {
        if (isWanted(message)) resolve(true);
      });
    });
    return Promise.race([heard, this.#closed.then(() => false)]);
  }

  /** Kills it after some time. Fails if it has failed. False: it had ended. */
  async kill(afterMs = 0): Promise<boolean> {
    await Promise.race([setTimeout(afterMs), this.#closed]);
    this.#child.kill('SIGKILL');
    await this.#closed;
    const { exitCode, signalCode } = this.#child;
    expect(exitCode ?? 0, this.#words).to.equal(0);
    return signalCode === 'SIGKILL';
  }
}
