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
  readonly raw: Buffer;
  readonly height: number;
  readonly resolve: (rows: BlockRows) => void;
  readonly reject: (error: unknown) => void;
}

export class RowMaker {
  #worker: Worker | undefined;
  #ready = false;
  /** Closed, or the thread was lost: blocks are scanned here from then on. */
  #alone = false;
  #nextId = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** @throws as blockRows */
  async make(raw: Buffer, height: number): Promise<BlockRows> {
    if (raw.length < LARGE_BYTES || this.#alone) return blockRows(raw, height);
    const worker = this.#worker ??= this.#start();
    if (!this.#ready) return blockRows(raw, height);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { raw, height, resolve, reject });
      // A copy: the node may still use its own.
      const copy = Uint8Array.from(raw);
      worker.postMessage({ id, height, raw: copy } satisfies RowRequest, [copy.buffer]);
    });
  }

  async close(): Promise<void> {
    this.#alone = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = startWorker();
    worker.unref();
    worker.on('online', () => { this.#ready = true; });
    worker.on('message', (reply: RowReply) => { this.#settle(reply); });
    // Whatever it was, what follows is the end of the thread.
    worker.on('error', () => undefined);
    worker.on('exit', () => { this.#goOnAlone(); });
    return worker;
  }

  #settle(reply: RowReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('rows' in reply) waiting?.resolve(reply.rows);
    else waiting?.reject(reply.error);
  }

  /** The thread ended: nothing of what it was to do is lost. */
  #goOnAlone(): void {
    this.#alone = true;
    for (const { raw, height, resolve, reject } of this.#waiting.values()) {
      try {
        resolve(blockRows(raw, height));
      } catch (error) {
        reject(error);
      }
    }
    this.#waiting.clear();
  }
}

function startWorker(): Worker {
  const file = join(__dirname, 'row-worker');
  // Tests and benchmarks run from the sources, which a thread does not read by itself.
  if (extname(__filename) === '.ts')
    return new Worker(`require('ts-node/register/transpile-only'); require(${JSON.stringify(file)});`, { eval: true, execArgv: [] });
  return new Worker(`${file}.js`);
}
