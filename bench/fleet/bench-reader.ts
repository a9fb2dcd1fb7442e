// A reader of the fleet, as a process of its own.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/bcoin/regtest-node';
import { wholeCpuMicroseconds } from '../serve/process-figures';
import type { Nats } from '../../test/support/fleet/nats';

/** `npx bcoin-rest`. */
export const PROGRAM = resolve('dist/plugin/cli/main.js');

/** Of readers that answer nobody without it. */
export const KEY = 'bench';

const AUTHORIZATION = `Basic ${Buffer.from(`:${KEY}`).toString('base64')}`;

/** A reader that is live waits longer before it says that it is not there yet. */
const CATCHING_UP_MS = 1_000;
/** Between two questions of those that wait for minutes. */
export const ASKING_PAUSE_MS = 500;

export class BenchReader {
  private constructor(
    readonly port: number,
    readonly child: ChildProcess
  ) {}

  static async start(nats: Nats, prefix: string, options: readonly string[]): Promise<BenchReader> {
    const port = await freePort();
    const fixed = ['--network=regtest', '--rest-warmup=indexed', '--log-level=none'];
    const own = [`--rest-nats=${nats.url}`, `--prefix=${prefix}`, `--http-port=${port}`];
    return new BenchReader(port, spawn(process.execPath, [PROGRAM, 'reader', ...own, ...fixed, ...options], { stdio: 'ignore' }));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get cpuMs(): number {
    return wholeCpuMicroseconds(this.pid) / 1_000;
  }

  /** Asks until the answer is of this height; the reader itself waits up to two seconds, unless it is catching up. */
  async untilAt(height: number, pauseMs = 20): Promise<void> {
    for (;;) {
      this.#expectRunning();
      const asked = performance.now();
      const headers = { 'x-rest-min-tip': String(height), authorization: AUTHORIZATION };
      const reply = await fetch(`http://127.0.0.1:${this.port}/rest/chaininfo.json`, { headers }).catch(() => undefined);
      await reply?.arrayBuffer();
      if (reply?.status === 200 && Number(reply.headers.get('x-rest-tip')?.split(' ')[0]) >= height) return;
      if (performance.now() - asked < CATCHING_UP_MS) await pause(pauseMs);
    }
  }

  async untilAnswered(path: string): Promise<void> {
    const headers = { authorization: AUTHORIZATION };
    while ((await fetch(`http://127.0.0.1:${this.port}${path}`, { headers })).status !== 200) await pause(ASKING_PAUSE_MS);
  }

  /** @throws Error if the reader has ended: waiting for its answer would never end. */
  #expectRunning(): void {
    if (this.child.exitCode !== null) throw new Error(`a reader has ended with code ${this.child.exitCode}`);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }
}
