// A server of the Electrum protocol in a separate process, whatever program it is: started with no index, and again with the index that it
// has built.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { countCpu, untilAtRest, wholeCpuMicroseconds } from '../serve/process-figures';

const PATIENCE_MS = 300_000;
const RETRY_MS = 50;
const SAID_LENGTH = 2_000;

export interface Running {
  readonly pid: number;
  /** Ends it so that its data is whole. */
  close(): Promise<void>;
  /** Ends it at once. */
  stop(): Promise<void>;
}

export interface ServerParts<R extends Running> {
  readonly name: string;
  /** Port for lines. */
  readonly linePort: number;
  /** Where its indexes are. */
  readonly folder: string;
  /** The file of what it says, if it does not go to standard error. */
  readonly log?: string;
  /** The process of the node that it asks, if that is another one. */
  readonly nodePid?: number;
  /** Whether it holds a short reply back for up to a second, unless others follow: then short replies are only asked for many at a time. */
  readonly holdsBack?: boolean;
  /** Starts the process. */
  open(): Promise<R>;
  /** To be done after each start, once it listens. */
  prepare?(running: R): Promise<void>;
}

/** From starting the process until it listens. */
export interface StartFigures {
  readonly seconds: number;
  /** Processor time of all its threads, and of its node meanwhile. */
  readonly cpuSeconds: number;
}

export class LineServer<R extends Running = Running> {
  readonly #parts: ServerParts<R>;
  #running: R | undefined;
  #first: StartFigures | undefined;
  #last: StartFigures | undefined;
  #diskBytes = 0;

  constructor(parts: ServerParts<R>) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.name;
  }

  get linePort(): number {
    return this.#parts.linePort;
  }

  get holdsBack(): boolean {
    return this.#parts.holdsBack ?? false;
  }

  get pid(): number {
    return this.running.pid;
  }

  protected get running(): R {
    if (this.#running === undefined) throw new Error(`expected ${this.name} to run`);
    return this.#running;
  }

  /** The start with nothing, which builds the indexes, and the last one. */
  get starts(): { readonly first: StartFigures; readonly last: StartFigures } | undefined {
    return this.#first && this.#last && { first: this.#first, last: this.#last };
  }

  /** What its indexes took when it was closed last. */
  get diskBytes(): number {
    return this.#diskBytes;
  }

  /** Counts processor time from now on, with that of the node that it asks: in microseconds. */
  countCpu(): () => number {
    return countCpu(this.#pids(this.pid));
  }

  /** Starts it, and waits until it listens and is idle. */
  async start(): Promise<void> {
    const { linePort, nodePid } = this.#parts;
    const [began, nodeBefore] = [performance.now(), nodePid === undefined ? 0 : wholeCpuMicroseconds(nodePid)];
    const running = await this.#parts.open();
    this.#running = running;
    while (!(await isListening(linePort))) {
      if (performance.now() - began > PATIENCE_MS || !existsSync(`/proc/${running.pid}`)) throw this.#unheard();
      await pause(RETRY_MS);
    }
    const cpu = this.#pids(running.pid).reduce((sum, pid) => sum + wholeCpuMicroseconds(pid), 0) - nodeBefore;
    this.#last = { seconds: (performance.now() - began) / 1_000, cpuSeconds: cpu / 1_000_000 };
    this.#first ??= this.#last;
    await this.#parts.prepare?.(running);
    await this.rest();
  }

  /** Waits until it has been idle for a while. */
  async rest(): Promise<void> {
    for (const pid of this.#pids(this.pid)) await untilAtRest(pid);
  }

  /** Starts a new process on the same data. */
  async restart(): Promise<void> {
    await this.running.close();
    this.#diskBytes = bytesIn(this.#parts.folder);
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  #unheard(): Error {
    const { name, log } = this.#parts;
    const said = log === undefined ? '' : `, it says:\n${readFileSync(log, 'utf8').slice(-SAID_LENGTH)}`;
    return new Error(`expected ${name} to listen${said}`);
  }

  #pids(pid: number): number[] {
    const { nodePid } = this.#parts;
    return nodePid === undefined ? [pid] : [pid, nodePid];
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });
}

const BLOCK_BYTES = 512;

/** What the files in a folder take on disk. */
export function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * BLOCK_BYTES, 0);
}
