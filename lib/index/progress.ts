// How fast the index comes on, from the last half minute or so.

import type { Pace } from './types';

const WINDOW_MS = 30_000;
/** Less says nothing yet. */
const LEAST_MS = 1_000;

interface Sample {
  readonly height: number;
  readonly bytes: number;
  readonly ms: number;
}

export class Progress {
  #since: Sample;
  #next: Sample;

  constructor(height: number, ms: number) {
    this.#since = this.#next = { height, bytes: 0, ms };
  }

  /** At a height, so many bytes of blocks after the start, at a time in milliseconds; undefined as long as nobody can tell. */
  pace(height: number, bytes: number, ms: number): Pace | undefined {
    // Two samples half a window apart: the pace is always of at least half a window once there is one.
    if (ms - this.#next.ms >= WINDOW_MS / 2) {
      this.#since = this.#next;
      this.#next = { height, bytes, ms };
    }
    const [blocks, elapsed] = [height - this.#since.height, ms - this.#since.ms];
    if (elapsed < LEAST_MS || blocks <= 0) return undefined;
    return { blocksPerSecond: blocks * 1_000 / elapsed, bytesPerSecond: (bytes - this.#since.bytes) * 1_000 / elapsed };
  }
}

/** Whole seconds from `height` to `target` at this pace. */
export function secondsLeft(height: number, target: number, pace: Pace): number {
  return Math.ceil((target - height) / pace.blocksPerSecond);
}
