// How long the event loop is held: looks every millisecond, and counts that millisecond in.
// (The histogram of node:perf_hooks forgets what comes right after a reset, which is where
// a new block's work begins.)

const INTERVAL_MS = 1;

export class LoopProbe {
  readonly #timer = setInterval(() => {
    this.#look();
  }, INTERVAL_MS);
  #last = performance.now();
  #longest = 0;

  /** The longest hold from now on; what was before does not count. */
  start(): void {
    this.#last = performance.now();
    this.#longest = 0;
  }

  /** The longest hold since the start, in milliseconds, up to now. */
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
