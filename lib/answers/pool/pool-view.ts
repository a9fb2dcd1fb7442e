// A value that is computed from the whole pool: once for each state of the pool, however many clients ask for it.

import { NO_CLIENT } from '../../turns/client';
import { runInSlices } from '../../turns/slices';

/** A pool of no more transactions is read in a few milliseconds: its views are always up to date. */
const SMALL_POOL = 5_000;

/** As much of the pool as its views know. `revision`: another one if they may be others. */
export interface ViewedPool {
  readonly revision: number;
  readonly size: number;
}

interface Made<T> {
  readonly revision: number;
  /** When work on it began, and the size of the pool at that time. */
  readonly time: number;
  readonly size: number;
  /** A promise while it is being made. */
  value: T | Promise<T>;
}

export interface PoolViewOptions {
  /** How long a view of a large pool may be used after the pool has changed. */
  readonly lateMs?: number;
  readonly now?: () => number;
}

export class PoolView<T> {
  readonly #pool: ViewedPool;
  readonly #make: () => Generator<void, T>;
  readonly #lateMs: number;
  readonly #now: () => number;
  #latest: Made<T> | undefined;
  /** Settles when the latest value is made; undefined from then on. */
  #making: Promise<unknown> | undefined;

  /** `make`: must read the pool only in its first step. */
  constructor(pool: ViewedPool, make: () => Generator<void, T>, { lateMs = 0, now = () => performance.now() }: PoolViewOptions = {}) {
    this.#pool = pool;
    this.#make = make;
    this.#lateMs = lateMs;
    this.#now = now;
  }

  /** The revision of the pool for which `get` answers now. */
  get revision(): number {
    const known = this.#latest;
    return known !== undefined && this.#isGood(known) ? known.revision : this.#pool.revision;
  }

  /** The value for the pool at the time of the call, or later; with `lateMs` it may be earlier. A promise only if it is not made yet. */
  get(): T | Promise<T> {
    const known = this.#latest;
    if (known !== undefined && this.#isGood(known)) return known.value;
    return this.#making === undefined ? this.#begin() : this.#making.then(() => this.get());
  }

  #isGood({ revision, time, size }: Made<T>): boolean {
    // The revision of a large pool may be expensive to ask for.
    return (size > SMALL_POOL && this.#now() - time < this.#lateMs) || revision === this.#pool.revision;
  }

  #begin(): Promise<T> {
    const { revision, size } = this.#pool;
    const value = runInSlices(this.#make(), NO_CLIENT);
    const made: Made<T> = { revision, time: this.#now(), size, value };
    this.#latest = made;
    this.#making = value.then(
      (result) => {
        made.value = result;
        this.#making = undefined;
      },
      () => (this.#making = this.#latest = undefined)
    );
    return value;
  }
}
