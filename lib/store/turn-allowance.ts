// How long the event loop may wait for a store in one turn. Reading a record or two at once takes some microseconds if the system has them in
// memory, a tenth of what a trip through the thread pool takes; a cold disk may take milliseconds.

import { setImmediate } from 'node:timers';

/** Milliseconds, and reads, in one turn. */
const TURN_MS = 1;
const MOST_READS = 256;

export class TurnAllowance {
  #leftMs = TURN_MS;
  #reads = 0;
  #isRenewing = false;

  /** Then further reads of the turn go off the event loop. After a slow read, this also holds for as many turns as it took milliseconds. */
  get isSpent(): boolean {
    return this.#leftMs <= 0 || this.#reads >= MOST_READS;
  }

  /** Reads at once. */
  read<T>(read: () => T): T {
    const begin = performance.now();
    try {
      return read();
    } finally {
      this.#leftMs -= performance.now() - begin;
      this.#reads++;
      this.#renewInNextTurn();
    }
  }

  #renewInNextTurn(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    setImmediate(this.#renew);
  }

  readonly #renew = (): void => {
    this.#isRenewing = false;
    this.#reads = 0;
    this.#leftMs = Math.min(this.#leftMs + TURN_MS, TURN_MS);
    if (this.#leftMs <= 0) this.#renewInNextTurn();
  };
}
