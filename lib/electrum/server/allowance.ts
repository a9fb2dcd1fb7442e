// Memory that all sessions share for what clients have sent and nobody has answered.

/** There is none left. */
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
