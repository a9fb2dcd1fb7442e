// Bytes that come in pieces, copied together: a piece of one byte would take a hundred times its size.

const NOTHING = Buffer.alloc(0);

export class Collected {
  readonly #mostBytes: number;
  /** May be longer than what it holds. */
  #memory = NOTHING;
  #length = 0;

  /** `mostBytes`: all pieces together are no longer. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes of memory that are taken. */
  get memoryBytes(): number {
    return this.#memory.length;
  }

  /** Copies a piece behind the others. */
  append(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#memory.length) {
      // Memory is doubled, so that what comes in many pieces is not copied for each of them.
      const memory = Buffer.allocUnsafeSlow(Math.max(length, Math.min(this.#memory.length * 2, this.#mostBytes)));
      this.#memory.copy(memory, 0, 0, this.#length);
      this.#memory = memory;
    }
    piece.copy(this.#memory, this.#length);
    this.#length = length;
  }

  /** Gives everything, and begins anew. */
  take(): Buffer {
    const all = this.#memory.subarray(0, this.#length);
    this.#memory = NOTHING;
    this.#length = 0;
    return all;
  }
}
