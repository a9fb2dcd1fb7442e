// What the worker threads have in common: how they are started, and the shared memory through which
// they receive blocks and return rows. It is reused: blocks sent as messages would become garbage
// whose size the collector does not see, so that it would run too often or too late.

import { extname, join, relative, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';

const projectFolder = resolve(__dirname, '../../..');

/** Sizes are rounded up to a multiple of this, so that a piece fits the next block too. */
const MEMORY_STEP = 1 << 20;

/** Pieces of shared memory, for one block each. */
export class SharedMemoryPool {
  readonly #free: SharedArrayBuffer[] = [];
  readonly #mostFree: number;

  /** `mostFree`: how many free pieces are kept at most. */
  constructor(mostFree: number) {
    this.#mostFree = mostFree;
  }

  /** Number of free pieces. */
  get size(): number {
    return this.#free.length;
  }

  /** A piece of at least `length` bytes. */
  take(length: number): SharedArrayBuffer {
    const memory = this.#free.pop();
    return memory !== undefined && memory.byteLength >= length
      ? memory
      : new SharedArrayBuffer(Math.ceil(length / MEMORY_STEP) * MEMORY_STEP);
  }

  giveBack(memory: SharedArrayBuffer): void {
    if (this.#free.length < this.#mostFree) this.#free.push(memory);
  }

  /** Leaves all free pieces to the garbage collector. */
  clear(): void {
    this.#free.length = 0;
  }
}

/** Starts a thread. `file`: its path without extension. */
export function startWorker(file: string, workerData?: unknown): Worker {
  // A process that runs from the sources, as tests do, has threads that run from the build: they start in a tenth of the time.
  const compiled = extname(__filename) === '.ts' ? join(projectFolder, 'dist', relative(projectFolder, file)) : file;
  return new Worker(`${compiled}.js`, { workerData });
}
