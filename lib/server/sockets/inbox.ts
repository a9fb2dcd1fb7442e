// Hands over what a client sent, one value after the other: only for a limited time in each turn of the event loop, and not while the
// session is paused.

/** How long values are handed over in one turn, while everything else waits. Most values take microseconds. */
const TURN_MS = 2;

export interface InboxParts {
  /** The next complete value. */
  readonly next: () => Buffer | undefined;
  /** `at`: about when it came, as performance.now(). */
  readonly receive: (value: Buffer, at: number) => void;
  /** Stops and continues reading from the client. */
  readonly flow: { pause(): unknown; resume(): unknown };
  /** Called when a value cannot be received. */
  readonly refuse: () => void;
}

export class Inbox {
  readonly #parts: InboxParts;
  #isPaused = false;
  #isClosed = false;
  #next: NodeJS.Immediate | undefined;

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  pause(): void {
    if (this.#isPaused || this.#isClosed) return;
    this.#isPaused = true;
    this.#parts.flow.pause();
  }

  resume(): void {
    if (!this.#isPaused || this.#isClosed) return;
    this.#isPaused = false;
    // In the next turn, because the session may be in the middle of something.
    this.#next ??= setImmediate(this.run);
  }

  close(): void {
    this.#isClosed = true;
    clearImmediate(this.#next);
  }

  /** To be called when something has come. */
  readonly run = (): void => {
    const { next, receive, flow, refuse } = this.#parts;
    this.#next = undefined;
    let now = performance.now();
    const end = now + TURN_MS;
    try {
      while (!this.#isPaused && !this.#isClosed) {
        const value = next();
        if (value === undefined) {
          flow.resume();
          return;
        }
        receive(value, now);
        now = performance.now();
        if (now < end) continue;
        flow.pause();
        this.#next = setImmediate(this.run);
        return;
      }
    } catch {
      refuse();
    }
  };
}
