// How fast the index comes on, and how often that is told.

import type { Pace } from '../types';

const WINDOW_MS = 30_000;
/** In less time too little is done for an estimate. */
const LEAST_MS = 1_000;

/** What is done so far. */
export interface Done {
  /** Of the last block; of other work, any measure of how far it is. */
  readonly height: number;
  /** Bytes since the start. */
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

  /** `ms`: as all times, in milliseconds of any one clock. */
  constructor(height: number, ms: number) {
    this.#since = this.#next = { height, bytes: 0, coins: 0, ms };
  }

  /** The pace of the last half minute or so; undefined as long as nobody can tell. */
  pace(done: Done, ms: number): Pace | undefined {
    // Two samples half a window apart: the pace is always of at least half a window once there is one.
    if (ms - this.#next.ms >= WINDOW_MS / 2) {
      this.#since = this.#next;
      this.#next = { ...done, ms };
    }
    const [blocks, elapsed] = [done.height - this.#since.height, ms - this.#since.ms];
    if (elapsed < LEAST_MS || blocks <= 0) return undefined;
    return {
      blocksPerSecond: (blocks * 1_000) / elapsed,
      bytesPerSecond: ((done.bytes - this.#since.bytes) * 1_000) / elapsed,
      coinsPerSecond: ((done.coins - this.#since.coins) * 1_000) / elapsed
    };
  }
}

/** Seconds from `height` to `target` at this pace. */
export function secondsLeft(height: number, target: number, pace: Pace): number {
  return Math.ceil((target - height) / pace.blocksPerSecond);
}

/** Lets a report through once in so many milliseconds, and the first one at once. */
export class Throttle {
  readonly #ms: number;
  #last = -Infinity;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Whether it is time; if so, the time begins again. */
  isDue(now = performance.now()): boolean {
    if (now - this.#last < this.#ms) return false;
    this.#last = now;
    return true;
  }

  /** The next report has to wait for all of the time. */
  restart(now = performance.now()): void {
    this.#last = now;
  }
}
