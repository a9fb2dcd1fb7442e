// Controls the thread that fills an index by script. Only this thread has the store open.

import { join } from 'node:path';
import { SharedMemoryPool, startWorker } from '../../index/scan/worker';
import { messageOf } from '../../system/error-text';
import { FillingError } from '../errors';
import type { Worker } from 'node:worker_threads';
import type { ScriptBlock } from '../scan/rows';
import type { FillingSizes } from './filling';

/** What the thread is started with (fill-worker.ts). */
export interface FillSetup {
  /** Folder of the store. */
  readonly path: string;
  readonly filesPath: string;
  readonly genesisHash: Uint8Array;
  /** Whether to start over instead of resuming an interrupted filling. */
  readonly fromScratch: boolean;
  readonly sizes: FillingSizes;
  /** An integer of 4 bytes; the thread stops when it is not 0. */
  readonly stop: SharedArrayBuffer;
}

/** Requests to the thread, which answers them one after another. */
export type FillRequest = { readonly id: number } & (
  | {
      readonly type: 'take';
      readonly height: number;
      readonly hash: Uint8Array;
      /** Begins with the block; the outputs that it spends follow, then its txids. */
      readonly memory: SharedArrayBuffer;
      readonly rawLength: number;
      /** undefined: the block spends nothing. */
      readonly spentLength: number | undefined;
      /** 0: they are not known. */
      readonly txidsLength: number;
    }
  | { readonly type: 'sort' | 'finish' | 'close' }
);

/** How far a filling is when the thread starts. */
export interface FillStart {
  readonly step: 'partitioning' | 'sorting';
  readonly at: { readonly height: number; readonly hash: Uint8Array } | undefined;
  /** The damage, if the filling starts over because of it. */
  readonly damage: string | undefined;
}

export type FillReply =
  | { readonly type: 'opened'; readonly start: FillStart }
  | { readonly type: 'done'; readonly id: number }
  | { readonly type: 'sorting'; readonly done: number; readonly total: number }
  /** The last reply. `damaged`: the filling must start over. */
  | { readonly type: 'failed'; readonly damaged: boolean; readonly message: string };

/** The filling cannot be resumed: its data is damaged, or of blocks that are not in the chain any more. */
export class UselessFillingError extends Error {
  override readonly name = 'UselessFillingError';
}

/** Blocks in the thread at a time: the current one, and others so that the thread does not wait. */
const MOST_BLOCKS = 4;

const NO_TXIDS = Buffer.alloc(0);

/** The id under which `opened` waits for its reply; no request has it. */
const OPENED = -1;

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** All calls reject with FillingError, UselessFillingError, or the reason given to `stop`. */
export class FillThread {
  /** Resolves when the store is open. */
  readonly opened: Promise<FillStart>;
  /** Resolves when the thread has ended and the store is closed: after `finish`, `stop` or a failure. Never rejects. */
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #stop = new SharedArrayBuffer(4);
  readonly #waiting = new Map<number, Waiting>();
  readonly #blocks = new Set<Promise<void>>();
  readonly #memory = new SharedMemoryPool(MOST_BLOCKS);
  readonly #onSorting: (done: number, total: number) => void;
  #start: FillStart | undefined;
  /** Why the thread gives no more replies. */
  #failure: Error | undefined;
  #nextId = 0;

  /** `onSorting`: called for each file that is sorted into the store. */
  constructor(setup: Omit<FillSetup, 'stop'>, onSorting: (done: number, total: number) => void) {
    this.#onSorting = onSorting;
    const worker = (this.#worker = startWorker(join(__dirname, 'fill-worker'), { ...setup, stop: this.#stop } satisfies FillSetup));
    worker.on('message', (reply: FillReply) => {
      this.#take(reply);
    });
    worker.on('error', (error: unknown) => {
      this.#fail(new FillingError(`the thread that fills the index by script was lost: ${messageOf(error)}`));
    });
    this.ended = new Promise((resolve) => {
      worker.on('exit', () => {
        this.#fail(new FillingError('the thread that fills the index by script has ended'));
        resolve();
      });
    });
    this.opened = this.#reply(OPENED).then(() => this.#start as FillStart); // set by the reply
    // The next request fails with the same error; an unhandled rejection would end the node.
    this.opened.catch(() => undefined);
  }

  /** Hands over the next block. Resolves when there is space for another one. */
  async take({ point, raw, spent, txids = NO_TXIDS }: ScriptBlock): Promise<void> {
    const [rawLength, spentLength, txidsLength] = [raw.length, spent?.length, txids.length];
    const spentEnd = rawLength + (spentLength ?? 0);
    const memory = this.#memory.take(spentEnd + txidsLength);
    const bytes = new Uint8Array(memory);
    bytes.set(raw);
    if (spent !== undefined) bytes.set(spent, rawLength);
    bytes.set(txids, spentEnd);
    const { height, hash } = point;
    const taken = this.#ask((id) => ({ id, type: 'take', height, hash, memory, rawLength, spentLength, txidsLength }));
    const settled = taken.then(() => {
      this.#blocks.delete(settled);
      this.#memory.giveBack(memory);
    });
    this.#blocks.add(settled);
    // The next request fails with the same error.
    settled.catch(() => undefined);
    if (this.#blocks.size >= MOST_BLOCKS) await Promise.race(this.#blocks);
  }

  /** After the last block: sorts the files into the store. */
  async sort(): Promise<void> {
    await this.#ask((id) => ({ id, type: 'sort' }));
  }

  /** Completes the index in the store, and closes the store. */
  async finish(): Promise<void> {
    await this.#ask((id) => ({ id, type: 'finish' }));
    await this.ended;
  }

  /** Ends all work in progress, which rejects with `reason`. */
  stop(reason: Error): void {
    this.#fail(reason);
    Atomics.store(new Int32Array(this.#stop), 0, 1);
    this.#worker.postMessage({ id: this.#nextId++, type: 'close' } satisfies FillRequest);
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
}
