// Makes the rows of blocks, large ones in a worker thread. The thread is started when the
// first large block comes, and that block does not wait for it. Block and rows lie in
// pieces of shared memory that are used again: what is sent to and fro would be garbage that
// the collector cannot see the size of, and stops for too often or too late.

import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { blockRows, mostRowBytes, type BlockRows } from './rows';
import type { TxidHasher } from '../records/txid-hash';

/** Smaller blocks cost less here than being sent there. */
const LARGE_BYTES = 100_000;

/** What is sent to a worker and back (row-worker.ts). */
export interface RowRequest {
  readonly id: number;
  readonly height: number;
  /** Of the hashes of txids (txid-hash.ts). */
  readonly secret: Uint8Array;
  readonly forFilter: boolean;
  /** Begins with the block, and is large enough for its rows too. */
  readonly memory: SharedArrayBuffer;
  readonly length: number;
}
export type RowReply = { readonly id: number } & ({ readonly rows: BlockRows } | { readonly error: unknown });

/** So many pieces of memory wait for another use: as many as there are blocks under way. */
const MOST_FREE = 6;
/** Memory of a common size fits the next block too. */
const MEMORY_STEP = 1 << 20;

interface Waiting {
  readonly memory: SharedArrayBuffer;
  readonly raw: Buffer;
  readonly height: number;
  readonly hasher: TxidHasher;
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

  readonly #free: SharedArrayBuffer[] = [];
  readonly #memories = new WeakMap<BlockRows, SharedArrayBuffer>();
  readonly #onLost: (reason: string) => void;
  readonly #forFilter: boolean;

  /**
   * `onLost`: called when the thread ended by itself. Everything goes on, but the event loop is held longer. `forFilter`: with
   * what filters are made of.
   */
  constructor(onLost: (reason: string) => void = () => undefined, forFilter = false) {
    this.#onLost = onLost;
    this.#forFilter = forFilter;
  }

  /** The rows hold until they are released. @throws as blockRows */
  async make(raw: Buffer, height: number, hasher: TxidHasher): Promise<BlockRows> {
    if (raw.length < LARGE_BYTES || this.#alone) return blockRows(raw, height, hasher, this.#forFilter);
    const worker = (this.#worker ??= this.#start());
    if (!this.#ready) return blockRows(raw, height, hasher, this.#forFilter);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const memory = this.#takeMemory(raw.length + mostRowBytes(raw.length));
      this.#waiting.set(id, { memory, raw, height, hasher, resolve, reject });
      new Uint8Array(memory).set(raw);
      worker.postMessage({
        id,
        height,
        secret: hasher.secret,
        forFilter: this.#forFilter,
        memory,
        length: raw.length
      } satisfies RowRequest);
    });
  }

  /** Nobody looks at these rows any more. Those that are never released only cost other memory. */
  release(rows: BlockRows): void {
    const memory = this.#memories.get(rows);
    if (memory !== undefined && this.#memories.delete(rows) && this.#free.length < MOST_FREE) this.#free.push(memory);
  }

  /**
   * Blocks will come one by one from now on: a thread that has come to much memory, that of the rows of
   * many blocks among it, gives way to another. An idle thread would never give it back.
   */
  async renew(): Promise<void> {
    const worker = this.#worker;
    const hadMany = this.#free.length > 1;
    if (worker === undefined || this.#alone || this.#waiting.size > 0 || !hadMany) return;
    this.#free.length = 0;
    this.#ready = false;
    this.#worker = this.#start();
    await worker.terminate();
  }

  async close(): Promise<void> {
    this.#alone = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = startWorker();
    worker.on('online', () => {
      this.#ready = true;
    });
    worker.on('message', (reply: RowReply) => {
      this.#settle(reply);
    });
    let reason = 'it ended';
    worker.on('error', (error: unknown) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    worker.on('exit', () => {
      if (worker !== this.#worker) return;
      if (!this.#alone) this.#onLost(reason);
      this.#goOnAlone();
    });
    // After the listeners, each of which would keep the process alive again.
    worker.unref();
    return worker;
  }

  #settle(reply: RowReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (waiting === undefined) return;
    if ('rows' in reply) {
      this.#memories.set(reply.rows, waiting.memory);
      waiting.resolve(reply.rows);
    } else waiting.reject(reply.error);
  }

  #takeMemory(length: number): SharedArrayBuffer {
    const memory = this.#free.pop();
    return memory !== undefined && memory.byteLength >= length
      ? memory
      : new SharedArrayBuffer(Math.ceil(length / MEMORY_STEP) * MEMORY_STEP);
  }

  /** The thread ended: nothing of what it was to do is lost. */
  #goOnAlone(): void {
    this.#alone = true;
    for (const { raw, height, hasher, resolve, reject } of this.#waiting.values()) {
      try {
        resolve(blockRows(raw, height, hasher, this.#forFilter));
      } catch (error) {
        reject(error);
      }
    }
    this.#waiting.clear();
  }
}

function startWorker(): Worker {
  const file = join(__dirname, 'row-worker');
  // Run from the sources, as tests and benchmarks do, a thread reads them as its process does, but not as its entry.
  if (extname(__filename) === '.ts') return new Worker(`require(${JSON.stringify(file)});`, { eval: true });
  return new Worker(`${file}.js`);
}
