// How fast the index comes on and how long it still takes, from the last half minute or so.

const WINDOW_MS = 30_000;
/** Less says nothing yet. */
const LEAST_MS = 1_000;

interface Sample {
  readonly height: number;
  readonly ms: number;
}

export class Progress {
  #since: Sample;
  #next: Sample;

  constructor(height: number, ms: number) {
    this.#since = this.#next = { height, ms };
  }

  /** Whole seconds until `target` is reached, at a time in milliseconds; undefined as long as nobody can tell. */
  secondsLeft(height: number, target: number, ms: number): number | undefined {
    // Two samples half a window apart: the rate is always of at least half a window once there is one.
    if (ms - this.#next.ms >= WINDOW_MS / 2) {
      this.#since = this.#next;
      this.#next = { height, ms };
    }
    const [blocks, elapsed] = [height - this.#since.height, ms - this.#since.ms];
    return elapsed < LEAST_MS || blocks <= 0 ? undefined : Math.ceil((target - height) * elapsed / blocks / 1_000);
  }
}
