// Hands over what clients sent, one value after the other: for so long in a turn of the event loop, and not while the session is paused.

/** A turn that others wait for may not be much longer. A value takes microseconds, unless it is a very long one. */
const TURN_MS = 2;

export interface InboxParts {
  /** The next value that has come as a whole. @throws NoMemoryError */
  readonly next: () => Buffer | undefined;
  readonly receive: (value: Buffer) => void;
  /** Nothing more is taken from the client, or it is again. */
  readonly flow: { pause(): unknown; resume(): unknown };
  /** There is no memory for what the client sends. */
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
    // The session may be in the middle of something.
    this.#next ??= setImmediate(this.run);
  }

  close(): void {
    this.#isClosed = true;
    clearImmediate(this.#next);
  }

  /** Something has come. */
  readonly run = (): void => {
    const { next, receive, flow, refuse } = this.#parts;
    this.#next = undefined;
    const end = performance.now() + TURN_MS;
    try {
      while (!this.#isPaused && !this.#isClosed) {
        const value = next();
        if (value === undefined) {
          flow.resume();
          return;
        }
        receive(value);
        if (performance.now() < end) continue;
        flow.pause();
        this.#next = setImmediate(this.run);
        return;
      }
    } catch {
      refuse();
    }
  };
}
