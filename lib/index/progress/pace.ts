// How fast the index makes progress.

import type { Pace } from '../types';

const WINDOW_MS = 30_000;
/** The pace is not estimated over less time than this. */
const LEAST_MS = 1_000;

/** What is done so far. */
export interface Done {
  /** Height of the last block; for other work, any measure of how far it is. */
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

  /** `ms`, here and below: the time in milliseconds, always by the same clock. */
  constructor(height: number, ms: number) {
    this.#since = this.#next = { height, bytes: 0, coins: 0, ms };
  }

  /** The pace of the last half minute or so; undefined as long as it is unknown. */
  pace(done: Done, ms: number): Pace | undefined {
    // Two samples are kept, half a window apart. So the pace is that of at least half a window, once this has passed.
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
