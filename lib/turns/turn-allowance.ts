// How long the event loop may wait for the disk in one turn. Reading a record or two at once takes some microseconds if the system has them in
// memory, a tenth of what a trip through the thread pool takes; a cold disk may take milliseconds.

import { renewInNextTurn } from './next-turn';

/** Milliseconds, and reads, in one turn. */
const TURN_MS = 1;
const MOST_READS = 256;
/** For how many turns a read that was too slow counts at most, if others before it were, too. */
const MOST_TURNS = 64;

export class TurnAllowance {
  #leftMs = TURN_MS;
  #reads = 0;
  /** For how many turns the next slow read will count at most. */
  #mostTurns = 1;

  /**
   * Then further reads of the turn go off the event loop. After a slow read, this also holds for as many turns as it took milliseconds; but the
   * first one counts for one turn only, since the process may have been off the processor, and each further one for twice as many.
   */
  get isSpent(): boolean {
    return this.#leftMs <= 0 || this.#reads >= MOST_READS;
  }

  /** Reads at once what is under a key. */
  read<K, T>(read: (key: K) => T, key: K): T {
    const begin = performance.now();
    try {
      return read(key);
    } finally {
      this.#leftMs -= performance.now() - begin;
      this.#reads++;
      renewInNextTurn(this.#renew);
    }
  }

  readonly #renew = (): void => {
    if (this.#reads > 0) this.#judge();
    this.#reads = 0;
    this.#leftMs = Math.min(this.#leftMs + TURN_MS, TURN_MS);
    if (this.#leftMs <= 0) renewInNextTurn(this.#renew);
  };

  /** After a turn with reads. */
  #judge(): void {
    const isSlow = this.#leftMs < -TURN_MS;
    if (isSlow) this.#leftMs = Math.max(this.#leftMs, -this.#mostTurns * TURN_MS);
    this.#mostTurns = isSlow ? Math.min(this.#mostTurns * 2, MOST_TURNS) : 1;
  }
}
