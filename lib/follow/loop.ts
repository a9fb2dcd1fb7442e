// A loop that does one step after another: it waits until something is due or it is woken, and goes on whatever a step throws.

export abstract class Loop {
  readonly #abort = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #isWoken = true;
  #endWait: () => void = () => undefined;

  /** Milliseconds until `step` has something to do; 0 or less: it has now; Infinity: it has nothing until the loop is woken. */
  protected abstract dueIn(): number;

  protected abstract step(): Promise<void>;

  /** Handles what `step` or `idle` has thrown; must not throw itself. Not called once the loop is closed. */
  protected abstract failed(error: unknown): void | Promise<void>;

  /** Aborted when the loop is closed. */
  protected get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether the loop was woken since the last step began; true before the first one. */
  protected get isWoken(): boolean {
    return this.#isWoken;
  }

  /** To be called once. */
  protected run(): void {
    this.#running = this.#run();
  }

  /** Something has happened that may make a step due. */
  protected readonly wake = (): void => {
    this.#isWoken = true;
    this.#endWait();
  };

  /** What is done while no step is due for `ms`; may be less than that. By default it waits until the loop is woken. */
  protected async idle(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#endWait = resolve;
      if (ms !== Infinity) timer = setTimeout(resolve, Math.ceil(ms));
    });
    clearTimeout(timer);
  }

  /** Waits for the present step, which may end early by `signal`. */
  async close(): Promise<void> {
    this.#abort.abort();
    this.wake();
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    while (!this.#isClosed()) {
      try {
        const ms = this.dueIn();
        if (ms > 0) await this.idle(ms);
        else {
          this.#isWoken = false;
          await this.step();
        }
      } catch (error) {
        if (!this.#isClosed()) await this.failed(error);
      }
    }
  }

  #isClosed(): boolean {
    return this.#abort.signal.aborted;
  }
}
