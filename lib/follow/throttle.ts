// How often something is reported.

/** Time between two lines of the log about one piece of work. */
export const LOG_MS = 10_000;

/** Lets one report through per interval of `ms`; the first one at once. */
export class Throttle {
  readonly #ms: number;
  #last = -Infinity;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Whether it is time for a report; if so, the next one is due after another interval. */
  isDue(now = performance.now()): boolean {
    if (now - this.#last < this.#ms) return false;
    this.#last = now;
    return true;
  }

  /** The next report is due after a whole interval. */
  restart(now = performance.now()): void {
    this.#last = now;
  }
}
