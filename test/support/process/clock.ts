// Makes time pass faster, for events that come after minutes.

/** Adds to the value of `performance.now()`. */
export class ShiftedClock {
  readonly #now = performance.now.bind(performance);
  #shiftMs = 0;

  constructor() {
    performance.now = () => this.#now() + this.#shiftMs;
  }

  passes(ms: number): void {
    this.#shiftMs += ms;
  }

  /** Restores the clock. */
  restore(): void {
    performance.now = this.#now;
  }
}

/** Sets the system's clock by so many milliseconds, as `Date.now` shows it. @returns a function that sets it right */
export function clockSet(byMs: number): () => void {
  const { now } = Date;
  Date.now = () => now() + byMs;
  return () => {
    Date.now = now;
  };
}

/** Lets no timer of more than so many milliseconds fire. @returns a function that ends this for later timers */
export function withoutLongTimers(mostMs: number): () => void {
  const { setTimeout: timeout } = globalThis;
  globalThis.setTimeout = ((callback: () => void, ms = 0) => timeout(callback, ms > mostMs ? NEVER_MS : ms)) as typeof setTimeout;
  return () => {
    globalThis.setTimeout = timeout;
  };
}

/** The longest that a timer can wait. */
const NEVER_MS = 0x7fff_ffff;

/**
 * Holds the timers of RxJS that begin from now on, which are intervals that it ends itself.
 * @returns a function that ends this, and has all that are held fire, in the order in which they began
 */
export function heldTimers(): () => void {
  const { setInterval: interval } = globalThis;
  const held: (() => void)[] = [];
  globalThis.setInterval = (callback: () => void) => {
    held.push(callback);
    return interval(callback, NEVER_MS);
  };
  return () => {
    globalThis.setInterval = interval;
    for (const fire of held) fire();
  };
}

/** Makes timers of exactly `ms` milliseconds fire almost at once. @returns a function that ends this for later timers */
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

/** A clock for timers of exactly `lengthMs` milliseconds: for them no time passes, but for what a test says. */
export class SteppedTimers {
  readonly #setTimeout = globalThis.setTimeout;
  readonly #clearTimeout = globalThis.clearTimeout;
  readonly #lengthMs: number;
  /** When each one that waits fires. */
  readonly #waiting = new Map<unknown, { readonly fire: () => void; readonly atMs: number }>();
  #nowMs = 0;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
    globalThis.setTimeout = ((fire: (...values: unknown[]) => void, ms?: number, ...values: unknown[]) =>
      ms === lengthMs ? this.#begun(() => fire(...values)) : this.#setTimeout(fire, ms, ...values)) as typeof setTimeout;
    globalThis.clearTimeout = (timer) => {
      this.#waiting.delete(timer);
      this.#clearTimeout(timer);
    };
  }

  #begun(fire: () => void): NodeJS.Timeout {
    const timer = this.#setTimeout(fire, NEVER_MS);
    const begin = (): NodeJS.Timeout => {
      this.#waiting.set(timer, { fire, atMs: this.#nowMs + this.#lengthMs });
      return timer;
    };
    timer.refresh = begin;
    return begin();
  }

  /** Fires those whose time has come. */
  passes(ms: number): void {
    this.#nowMs += ms;
    for (const [timer, { fire, atMs }] of this.#waiting)
      if (atMs <= this.#nowMs) {
        globalThis.clearTimeout(timer as NodeJS.Timeout);
        fire();
      }
  }

  /** For later timers. */
  restore(): void {
    globalThis.setTimeout = this.#setTimeout;
    globalThis.clearTimeout = this.#clearTimeout;
  }
}
