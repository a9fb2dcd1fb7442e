// Threads that make one hash of a set together: an element takes some 7 µs, nearly all of it one multiplication.

import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { MuHash } from '../../bitcoin/muhash';
import { startWorker } from '../scan/worker';
import type { Worker } from 'node:worker_threads';
import type { HashReply, HashRequest } from './hash-thread';

const MOST_THREADS = 4;
/** Bytes of elements that are handed over together. */
const BATCH_BYTES = 64 * 1_024;

export class HashThreads {
  readonly #threads = Array.from({ length: Math.min(MOST_THREADS, availableParallelism()) }, () => new HashThread());
  #batch = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #length = 0;
  #next = 0;

  /** Adds an element; waits while all threads have work. @throws errors of the threads */
  async add(element: Uint8Array): Promise<void> {
    if (this.#length > 0 && this.#length + 4 + element.length > BATCH_BYTES) await this.#handOver();
    if (4 + element.length > this.#batch.length) this.#batch = Buffer.allocUnsafeSlow(4 + element.length);
    this.#batch.set(element, this.#batch.writeUInt32LE(element.length, this.#length));
    this.#length += 4 + element.length;
  }

  /** The hash of all elements, 32 bytes in wire order. @throws errors of the threads */
  async digest(): Promise<Buffer> {
    await this.#handOver();
    const whole = new MuHash();
    for (const part of await Promise.all(this.#threads.map((thread) => thread.part()))) whole.combine(part);
    return whole.digest();
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  async #handOver(): Promise<void> {
    const thread = this.#threads[this.#next++ % this.#threads.length] as HashThread; // there is at least one
    const batch = this.#batch.subarray(0, this.#length);
    [this.#batch, this.#length] = [Buffer.allocUnsafeSlow(BATCH_BYTES), 0];
    await thread.add(batch);
  }
}

class HashThread {
  readonly #worker: Worker = startWorker(join(__dirname, 'hash-thread'));
  /** The last request that it was given. Never rejects by itself: an error is thrown by the next call. */
  #last: Promise<HashReply> = Promise.resolve(undefined);
  #failure: Error | undefined;

  constructor() {
    this.#worker.on('error', (error) => (this.#failure = error));
  }

  /** Hands over elements once those before are added. The memory goes to the thread. */
  async add(batch: Uint8Array): Promise<void> {
    await this.#last;
    this.#last = this.#ask(batch);
    this.#last.catch(() => undefined);
  }

  async part(): Promise<Uint8Array> {
    await this.#last;
    return (await this.#ask(undefined)) as Uint8Array; // as that request is answered
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(request: HashRequest): Promise<HashReply> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#worker.postMessage(request, request === undefined ? [] : [request.buffer as ArrayBuffer]);
    const [reply] = (await once(this.#worker, 'message')) as [HashReply];
    return reply;
  }
}
