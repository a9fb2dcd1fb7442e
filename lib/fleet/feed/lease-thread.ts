// The lease of leading, held by a thread with a connection of its own.

import { join } from 'node:path';
import { startWorker } from '../../index/scan/worker';
import { untilAborted } from '../log/abortable';
import { NatsAwayError, NatsRefusedError } from '../log/errors';
import type { Worker } from 'node:worker_threads';
import type { NatsAccess } from '../log/access';

export interface LeaseRequest {
  readonly access: NatsAccess;
  readonly chain: string;
  /** Of the node. */
  readonly name: string;
  /** How long the lease lasts without a renewal. */
  readonly ms: number;
  /** A number that changes as long as the main thread lives. */
  readonly pulse: SharedArrayBuffer;
}

/** What the thread says. `over`: the lease was lost, or given back. */
export type LeaseWord =
  | { readonly type: 'taken'; readonly number: number }
  | { readonly type: 'over' }
  | { readonly type: 'failed'; readonly name: string; readonly message: string };

/** How long giving back may take. */
const RELEASE_MS = 1_500;

export class LeaseThread {
  readonly #worker: Worker;
  readonly #pulse = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #taken: Promise<number>;
  readonly #ended: Promise<void>;
  readonly #lost = new AbortController();

  constructor(request: Omit<LeaseRequest, 'pulse'>) {
    const worker = (this.#worker = startWorker(join(__dirname, 'lease-worker'), { ...request, pulse: this.#pulse } satisfies LeaseRequest));
    this.#taken = new Promise((resolve, reject) => {
      worker.on('message', (word: LeaseWord) => {
        if (word.type === 'taken') resolve(word.number);
        if (word.type === 'failed') reject(errorOf(word));
      });
      worker.once('error', reject);
      worker.once('exit', () => reject(new NatsAwayError('the lease was not taken')));
    });
    this.#taken.catch(() => undefined);
    this.#ended = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#lost.abort();
        resolve();
      });
    });
  }

  /** Aborted when the lease is lost or given back. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Waits for the lease. Its number is greater than that of any earlier one. @throws NatsAwayError, NatsRefusedError; the signal's reason */
  taken(signal: AbortSignal): Promise<number> {
    return untilAborted(this.#taken, signal);
  }

  /** A sign of life: without one for long, the lease is given up. */
  readonly beat = (): void => {
    Atomics.add(new Int32Array(this.#pulse), 0, 1);
  };

  /** Gives the lease back, so that another node need not wait, and ends the thread. */
  async release(): Promise<void> {
    this.#worker.postMessage('end');
    // While NATS is away the lease ends by itself.
    const timer = setTimeout(() => void this.#worker.terminate(), RELEASE_MS);
    await this.#ended;
    clearTimeout(timer);
  }
}

function errorOf({ name, message }: Extract<LeaseWord, { readonly type: 'failed' }>): Error {
  return name === 'NatsRefusedError' ? new NatsRefusedError(message) : new NatsAwayError(message);
}
