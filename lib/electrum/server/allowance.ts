// The memory that all sessions share for requests that have not been answered.

/** This memory is used up. */
export class NoMemoryError extends Error {
  override readonly name = 'NoMemoryError';
}

export class Allowance {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** @throws NoMemoryError; nothing was taken then */
  take(bytes: number): void {
    if (bytes > this.#left) throw new NoMemoryError('requests take more memory than they may');
    this.#left -= bytes;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}
