// Time that passes faster, for what happens after minutes.

/** Adds to what `performance.now()` says. */
export class ShiftedClock {
  readonly #now = performance.now.bind(performance);
  #shiftMs = 0;

  constructor() {
    performance.now = () => this.#now() + this.#shiftMs;
  }

  passes(ms: number): void {
    this.#shiftMs += ms;
  }

  /** The clock is right again. */
  restore(): void {
    performance.now = this.#now;
  }
}

/** Timers of just so many milliseconds are set to almost none. @returns what ends this for timers that are set later */
export function hurried(lengthMs: number): () => void {
  const { setTimeout: timeout, setInterval: interval } = globalThis;
  const short =
    (set: typeof setTimeout) =>
    (callback: () => void, ms?: number): NodeJS.Timeout =>
      set(callback, ms === lengthMs ? 1 : ms);
  globalThis.setTimeout = short(timeout) as typeof setTimeout;
  globalThis.setInterval = short(interval as typeof setTimeout);
  return () => {
    globalThis.setTimeout = timeout;
    globalThis.setInterval = interval;
  };
}
