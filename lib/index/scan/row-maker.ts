// Makes the rows of blocks; for large blocks in a worker thread. The thread is started when the
// first large block comes, and that block does not wait for it. Blocks and rows are in shared memory
// (worker.ts).

import { join } from 'node:path';
import { messageOf } from '../../system/error-text';
import { blockRows, mostRowBytes, type BlockRows } from './rows';
import { SharedMemoryPool, startWorker } from './worker';
import type { Worker } from 'node:worker_threads';
import type { TxidHasher } from '../records/txid-hash';

/** Making the rows of a smaller block takes less time than sending it to the thread. */
const LARGE_BYTES = 100_000;

/** What is sent to a worker and back (row-worker.ts). */
export interface RowRequest {
  readonly id: number;
  readonly height: number;
  /** The secret of the hashes of txids (txid-hash.ts). */
  readonly secret: Uint8Array;
  readonly forFilter: boolean;
  readonly txids: Uint8Array | undefined;
  /** Begins with the block, and is large enough for its rows too. */
  readonly memory: SharedArrayBuffer;
  readonly length: number;
}
export type RowReply = { readonly id: number } & ({ readonly rows: BlockRows } | { readonly error: unknown });

/** Pieces of memory that are kept for reuse: as many as there are blocks in progress. */
const MOST_FREE = 6;

interface Waiting {
  readonly memory: SharedArrayBuffer;
  readonly raw: Buffer;
  readonly height: number;
  readonly hasher: TxidHasher;
  readonly txids: Buffer | undefined;
  readonly resolve: (rows: BlockRows) => void;
  readonly reject: (error: unknown) => void;
}

export class RowMaker {
  #worker: Worker | undefined;
  #ready = false;
  /** Closed, or the thread was lost: from then on blocks are scanned in this thread. */
  #alone = false;
  #nextId = 0;
  readonly #waiting = new Map<number, Waiting>();

  readonly #free = new SharedMemoryPool(MOST_FREE);
  readonly #memories = new WeakMap<BlockRows, SharedArrayBuffer>();
  readonly #onLost: (reason: string) => void;
  readonly #forFilter: boolean;

  /**
   * `onLost`: called when the thread ended by itself. Work continues, but blocks the event loop longer. `forFilter`: whether to
   * hash scripts for filters.
   */
  constructor(onLost: (reason: string) => void = () => undefined, forFilter = false) {
    this.#onLost = onLost;
    this.#forFilter = forFilter;
  }

  /** The rows are valid until they are released. `txids`: of the block, concatenated, if they are known. @throws as blockRows */
  async make(raw: Buffer, height: number, hasher: TxidHasher, txids?: Buffer): Promise<BlockRows> {
    const forFilter = this.#forFilter;
    if (raw.length < LARGE_BYTES || this.#alone) return blockRows(raw, height, hasher, { forFilter, txids });
    const worker = (this.#worker ??= this.#start());
    if (!this.#ready) return blockRows(raw, height, hasher, { forFilter, txids });
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const memory = this.#free.take(raw.length + mostRowBytes(raw.length));
      // Otherwise a command that has nothing else to wait for would end here.
      if (this.#waiting.size === 0) worker.ref();
      this.#waiting.set(id, { memory, raw, height, hasher, txids, resolve, reject });
      new Uint8Array(memory).set(raw);
      worker.postMessage({
        id,
        height,
        secret: hasher.secret,
        forFilter,
        txids,
        memory,
        length: raw.length
      } satisfies RowRequest);
    });
  }

  /** Returns the memory of the rows for another block. Rows that are never released are left to the garbage collector. */
  release(rows: BlockRows): void {
    const memory = this.#memories.get(rows);
    if (memory !== undefined && this.#memories.delete(rows)) this.#free.giveBack(memory);
  }

  /**
   * For blocks that come one by one from now on: frees the memory of the rows of many blocks, and replaces the thread, which
   * would not give its own memory back while it is idle.
   */
  async renew(): Promise<void> {
    const worker = this.#worker;
    const hadMany = this.#free.size > 1;
    if (worker === undefined || this.#alone || this.#waiting.size > 0 || !hadMany) return;
    this.#free.clear();
    this.#ready = false;
    this.#worker = this.#start();
    await worker.terminate();
  }

  async close(): Promise<void> {
    this.#alone = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = startWorker(join(__dirname, 'row-worker'));
    worker.on('online', () => {
      this.#ready = true;
    });
    worker.on('message', (reply: RowReply) => {
      this.#settle(reply);
    });
    let reason = 'it ended';
    worker.on('error', (error: unknown) => {
      reason = messageOf(error);
    });
    worker.on('exit', () => {
      if (worker !== this.#worker) return;
      if (!this.#alone) this.#onLost(reason);
      this.#goOnAlone();
    });
    // Last, because each listener keeps the process alive again.
    worker.unref();
    return worker;
  }

  #settle(reply: RowReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if (waiting === undefined) return;
    if ('rows' in reply) {
      this.#memories.set(reply.rows, waiting.memory);
      waiting.resolve(reply.rows);
    } else waiting.reject(reply.error);
  }

  /** After the end of the thread: makes the rows that it still owed. */
  #goOnAlone(): void {
    this.#alone = true;
    for (const { raw, height, hasher, txids, resolve, reject } of this.#waiting.values()) {
      try {
        resolve(blockRows(raw, height, hasher, { forFilter: this.#forFilter, txids }));
      } catch (error) {
        reject(error);
      }
    }
    this.#waiting.clear();
  }
}
