// How fast the index comes on, from the last half minute or so.

import type { Pace } from '../types';

const WINDOW_MS = 30_000;
/** Less says nothing yet. */
const LEAST_MS = 1_000;

/** What is done so far. */
export interface Done {
  readonly height: number;
  /** Bytes of blocks since the start. */
  readonly bytes: number;
  /** Coins made and coins spent since the start. */
  readonly coins: number;
}

interface Sample extends Done {
  readonly ms: number;
}

export class Progress {
  #since: Sample;
  #next: Sample;

  constructor(height: number, ms: number) {
    this.#since = this.#next = { height, bytes: 0, coins: 0, ms };
  }

  /** At a time in milliseconds; undefined as long as nobody can tell. */
  pace(done: Done, ms: number): Pace | undefined {
    // Two samples half a window apart: the pace is always of at least half a window once there is one.
    if (ms - this.#next.ms >= WINDOW_MS / 2) {
      this.#since = this.#next;
      this.#next = { ...done, ms };
    }
    const [blocks, elapsed] = [done.height - this.#since.height, ms - this.#since.ms];
    if (elapsed < LEAST_MS || blocks <= 0) return undefined;
    return {
      blocksPerSecond: blocks * 1_000 / elapsed,
      bytesPerSecond: (done.bytes - this.#since.bytes) * 1_000 / elapsed,
      coinsPerSecond: (done.coins - this.#since.coins) * 1_000 / elapsed
    };
  }
}

/** Whole seconds from `height` to `target` at this pace. */
export function secondsLeft(height: number, target: number, pace: Pace): number {
  return Math.ceil((target - height) / pace.blocksPerSecond);
}
