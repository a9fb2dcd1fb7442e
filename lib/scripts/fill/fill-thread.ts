// The thread that fills an index by script, seen from outside. It has the store to itself. Blocks lie in pieces of shared memory that are used
// again: what is sent to and fro would be garbage that the collector cannot see the size of.

import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { FillingError } from '../errors';
import type { ScriptBlock } from '../scan/rows';
import type { FillingSizes } from './filling';

/** What the thread is started with (fill-worker.ts). */
export interface FillSetup {
  /** Folder of the store. */
  readonly path: string;
  readonly filesPath: string;
  readonly genesisHash: Uint8Array;
  readonly anew: boolean;
  readonly sizes: FillingSizes;
  /** Not 0: to stop. */
  readonly stop: SharedArrayBuffer;
}

/** What is asked of it, one after the other. */
export type FillRequest = { readonly id: number } & (
  | {
      readonly type: 'take';
      readonly height: number;
      readonly hash: Uint8Array;
      /** Begins with the block, and then has what the block spends. */
      readonly memory: SharedArrayBuffer;
      readonly rawLength: number;
      /** undefined: nothing. */
      readonly spentLength: number | undefined;
    }
  | { readonly type: 'sort' | 'finish' | 'close' }
);

/** How far a filling is that goes on. */
export interface FillStart {
  readonly step: 'partitioning' | 'sorting';
  readonly at: { readonly height: number; readonly hash: Uint8Array } | undefined;
  /** Why it begins anew, if what was there is damaged. */
  readonly damage: string | undefined;
}

export type FillReply =
  | { readonly type: 'opened'; readonly start: FillStart }
  | { readonly type: 'done'; readonly id: number }
  | { readonly type: 'sorting'; readonly done: number; readonly total: number }
  /** Nothing comes after it. `damaged`: it must be begun anew. */
  | { readonly type: 'failed'; readonly damaged: boolean; readonly message: string };

/** What was filled so far is damaged, or of blocks that are not in the chain any more. */
export class UselessFillingError extends Error {
  override readonly name = 'UselessFillingError';
}

/** Blocks in the thread at a time: one that is worked on, and others so that it does not wait. */
const MOST_BLOCKS = 4;
/** Memory of a common size fits the next block too. */
const MEMORY_STEP = 1 << 20;

/** Waits for the thread to have opened the store. */
const OPENED = -1;

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** What is asked of it rejects with FillingError, UselessFillingError, or what it was stopped with. */
export class FillThread {
  readonly opened: Promise<FillStart>;
  readonly #worker: Worker;
  readonly #stop = new SharedArrayBuffer(4);
  readonly #waiting = new Map<number, Waiting>();
  readonly #blocks = new Set<Promise<void>>();
  readonly #free: SharedArrayBuffer[] = [];
  readonly #onSorting: (done: number, total: number) => void;
  readonly #exited: Promise<void>;
  #start: FillStart | undefined;
  /** Why nothing more is to be expected. */
  #failure: Error | undefined;
  #nextId = 0;

  /** `onSorting`: called when a file of the filling is done. */
  constructor(setup: Omit<FillSetup, 'stop'>, onSorting: (done: number, total: number) => void) {
    this.#onSorting = onSorting;
    const worker = (this.#worker = startWorker({ ...setup, stop: this.#stop }));
    worker.on('message', (reply: FillReply) => {
      this.#take(reply);
    });
    worker.on('error', (error: unknown) => {
      this.#fail(
        new FillingError(`the thread that fills the index by script was lost: ${error instanceof Error ? error.message : String(error)}`)
      );
    });
    this.#exited = new Promise((resolve) => {
      worker.on('exit', () => {
        this.#fail(new FillingError('the thread that fills the index by script has ended'));
        resolve();
      });
    });
    this.opened = this.#reply(OPENED).then(() => this.#start as FillStart); // the reply has it
    // Told to whoever asks for something next.
    this.opened.catch(() => undefined);
  }

  /** Hands the next block over. Resolves when there is space for another one. */
  async take({ point, raw, spent }: ScriptBlock): Promise<void> {
    const memory = this.#takeMemory(raw.length + (spent?.length ?? 0));
    const bytes = new Uint8Array(memory);
    bytes.set(raw);
    if (spent !== undefined) bytes.set(spent, raw.length);
    const { height, hash } = point;
    const taken = this.#ask((id) => ({ id, type: 'take', height, hash, memory, rawLength: raw.length, spentLength: spent?.length }));
    const settled = taken.then(() => {
      this.#blocks.delete(settled);
      this.#free.push(memory);
    });
    this.#blocks.add(settled);
    // Told to whoever asks for something next.
    settled.catch(() => undefined);
    if (this.#blocks.size >= MOST_BLOCKS) await Promise.race(this.#blocks);
  }

  /** After the last block: sorts the files into the store. */
  async sort(): Promise<void> {
    await this.#ask((id) => ({ id, type: 'sort' }));
  }

  /** The store has the index afterwards, and is closed. */
  async finish(): Promise<void> {
    await this.#ask((id) => ({ id, type: 'finish' }));
    await this.#exited;
  }

  /** Ends whatever is under way, which then rejects with this. */
  stop(reason: Error): void {
    this.#fail(reason);
    Atomics.store(new Int32Array(this.#stop), 0, 1);
    this.#worker.postMessage({ id: this.#nextId++, type: 'close' } satisfies FillRequest);
  }

  /** Resolves when the thread has ended and the store is closed, which is so once it is finished, stopped or failed. Never rejects. */
  ended(): Promise<void> {
    return this.#exited;
  }

  async #ask(request: (id: number) => FillRequest): Promise<void> {
    const id = this.#nextId++;
    const reply = this.#reply(id);
    this.#worker.postMessage(request(id));
    await reply;
  }

  #reply(id: number): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #take(reply: FillReply): void {
    switch (reply.type) {
      case 'opened':
        this.#start = reply.start;
        this.#settle(OPENED);
        return;
      case 'done':
        this.#settle(reply.id);
        return;
      case 'sorting':
        this.#onSorting(reply.done, reply.total);
        return;
      case 'failed':
        this.#fail(reply.damaged ? new UselessFillingError(reply.message) : new FillingError(reply.message));
    }
  }

  #settle(id: number): void {
    this.#waiting.get(id)?.resolve();
    this.#waiting.delete(id);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #takeMemory(length: number): SharedArrayBuffer {
    const memory = this.#free.pop();
    return memory !== undefined && memory.byteLength >= length
      ? memory
      : new SharedArrayBuffer(Math.ceil(length / MEMORY_STEP) * MEMORY_STEP);
  }
}

function startWorker(workerData: FillSetup): Worker {
  const file = join(__dirname, 'fill-worker');
  // Run from the sources, as tests and benchmarks do, a thread reads them as its process does, but not as its entry.
  if (extname(__filename) === '.ts') return new Worker(`require(${JSON.stringify(file)});`, { eval: true, workerData });
  return new Worker(`${file}.js`, { workerData });
}
