// Makes the rows of blocks, large ones in a worker thread. The thread is started when the
// first large block comes, and that block is not kept waiting for it.

import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { blockRows, type BlockRows } from './rows';

/** Smaller blocks cost less here than being sent there. */
const LARGE_BYTES = 100_000;

/** What is sent to a worker and back (row-worker.ts). */
export interface RowRequest {
  readonly id: number;
  readonly height: number;
  readonly raw: Uint8Array;
}
export type RowReply = { readonly id: number } & ({ readonly rows: BlockRows } | { readonly error: unknown });

interface Waiting {
  readonly resolve: (rows: BlockRows) => void;
  readonly reject: (error: unknown) => void;
}

export class RowMaker {
  #worker: Worker | undefined;
  #ready = false;
  #closed = false;
  #nextId = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** @throws as blockRows; Error when the thread ended. */
  async make(raw: Buffer, height: number): Promise<BlockRows> {
    if (raw.length < LARGE_BYTES || this.#closed) return blockRows(raw, height);
    this.#worker ??= this.#start();
    if (!this.#ready) return blockRows(raw, height);
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      // A copy: the node may still use its own.
      const copy = Uint8Array.from(raw);
      worker.postMessage({ id, height, raw: copy } satisfies RowRequest, [copy.buffer]);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    // The tests run from the sources.
    const extension = extname(__filename);
    const worker = new Worker(join(__dirname, `row-worker${extension}`), {
      execArgv: extension === '.ts' ? ['-r', 'ts-node/register/transpile-only'] : []
    });
    worker.unref();
    worker.on('online', () => { this.#ready = true; });
    worker.on('message', (reply: RowReply) => { this.#settle(reply); });
    worker.on('error', (error) => { this.#lose(error); });
    worker.on('exit', () => { this.#lose(new Error('the thread that scans blocks ended')); });
    return worker;
  }

  #settle(reply: RowReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('rows' in reply) waiting?.resolve(reply.rows);
    else waiting?.reject(reply.error);
  }

  /** Blocks are scanned here from now on until another thread is there. */
  #lose(error: Error): void {
    this.#worker = undefined;
    this.#ready = false;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
