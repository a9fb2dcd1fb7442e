// One thing at a time, in the order in which it was asked for.

export class Lock {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `use` when all that was asked for before is over. */
  run<T>(use: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(use);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
