// Something that is made of the whole pool: once for each of its states, however many ask for it.

import { runInSlices } from '../rest/server/slices';
import type { ScriptPool } from '../script-pool/script-pool';

/** Others wait for the same: it is finished even if the first who asked has left. */
const FOR_EVERYBODY = { isGone: false };

/** A pool of no more transactions is read in a few milliseconds: its views are never late. */
const SMALL_POOL = 5_000;

interface Made<T> {
  readonly revision: number;
  /** When it was begun, and the size of the pool then. */
  readonly time: number;
  readonly size: number;
  readonly value: Promise<T>;
}

export interface PoolViewOptions {
  /** How long a view of a large pool is good enough although the pool has changed. */
  readonly lateMs?: number;
  readonly now?: () => number;
}

export class PoolView<T> {
  readonly #pool: Pick<ScriptPool, 'revision' | 'size'>;
  readonly #make: () => Generator<void, T>;
  readonly #lateMs: number;
  readonly #now: () => number;
  #latest: Made<T> | undefined;
  /** Settles when the latest one is made, and is undefined from then on. */
  #making: Promise<unknown> | undefined;

  /** `make`: looks at the pool when it begins, and not afterwards. */
  constructor(
    pool: Pick<ScriptPool, 'revision' | 'size'>,
    make: () => Generator<void, T>,
    { lateMs = 0, now = () => performance.now() }: PoolViewOptions = {}
  ) {
    this.#pool = pool;
    this.#make = make;
    this.#lateMs = lateMs;
    this.#now = now;
  }

  /** What is made of the pool as it is when this is called, or later; with `lateMs` perhaps earlier. */
  async get(): Promise<T> {
    for (;;) {
      const known = this.#latest;
      if (known !== undefined && this.#isGood(known)) return known.value;
      if (this.#making === undefined) return this.#begin();
      await this.#making;
    }
  }

  #isGood({ revision, time, size }: Made<T>): boolean {
    return revision === this.#pool.revision || (size > SMALL_POOL && this.#now() - time < this.#lateMs);
  }

  #begin(): Promise<T> {
    const { revision, size } = this.#pool;
    const value = runInSlices(this.#make(), FOR_EVERYBODY);
    this.#latest = { revision, time: this.#now(), size, value };
    this.#making = value.then(
      () => (this.#making = undefined),
      () => (this.#making = this.#latest = undefined)
    );
    return value;
  }
}
