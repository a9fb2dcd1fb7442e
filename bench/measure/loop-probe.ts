// How long the event loop is blocked: looks every millisecond, which is included in the result.
// (The histogram of node:perf_hooks misses the time right after a reset, when the work on a
// new block begins.)

const INTERVAL_MS = 1;

export class LoopProbe {
  readonly #timer = setInterval(() => {
    this.#look();
  }, INTERVAL_MS);
  #last = performance.now();
  #longest = 0;

  /** Starts measuring; earlier delays do not count. */
  start(): void {
    this.#last = performance.now();
    this.#longest = 0;
  }

  /** The longest delay since the start, in milliseconds, up to now. */
  longest(): number {
    this.#look();
    return this.#longest;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }
}
