// Finds lines in the bytes of a connection. It holds one incomplete line, and the chunk that came last.

import type { Allowance } from './allowance';

const NEW_LINE = 10;
const NOTHING: Buffer = Buffer.alloc(0);

export class LineBuffer {
  readonly #mostBytes: number;
  readonly #allowance: Allowance;
  /** The chunk that came last, and how much of it was searched. */
  #chunk = NOTHING;
  #at = 0;
  /** An incomplete line: its bytes so far, in memory that may be longer. */
  #begun = NOTHING;
  #length = 0;
  #isTooLong = false;

  /** `mostBytes`: of a line; longer lines are dropped. `allowance`: memory for incomplete lines. */
  constructor(mostBytes: number, allowance: Allowance) {
    this.#mostBytes = mostBytes;
    this.#allowance = allowance;
  }

  push(chunk: Buffer): void {
    const rest = this.#chunk.subarray(this.#at);
    this.#chunk = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    this.#at = 0;
  }

  /** The next line without its line feed, valid until the next call; undefined if there is none yet. @throws NoMemoryError */
  next(): Buffer | undefined {
    for (;;) {
      const end = this.#chunk.indexOf(NEW_LINE, this.#at);
      const part = this.#chunk.subarray(this.#at, end < 0 ? undefined : end);
      this.#at += part.length + (end < 0 ? 0 : 1);
      const isTooLong = this.#isTooLong || this.#length + part.length > this.#mostBytes;
      if (isTooLong) this.clear();
      this.#isTooLong = isTooLong && end < 0;
      if (end < 0) {
        if (!isTooLong) this.#append(part);
        this.#chunk = NOTHING;
        this.#at = 0;
        return undefined;
      }
      if (isTooLong) continue;
      if (this.#length === 0) return part;
      this.#append(part);
      const line = this.#begun.subarray(0, this.#length);
      this.clear();
      return line;
    }
  }

  /** Drops the incomplete line. */
  clear(): void {
    this.#allowance.giveBack(this.#begun.length);
    this.#begun = NOTHING;
    this.#length = 0;
  }

  #append(part: Buffer): void {
    const length = this.#length + part.length;
    if (length > this.#begun.length) {
      // Memory is doubled, so that a line in many small pieces is not copied for each of them.
      const longer = Math.max(length, Math.min(this.#begun.length * 2, this.#mostBytes));
      this.#allowance.take(longer - this.#begun.length);
      const memory = Buffer.allocUnsafeSlow(longer);
      this.#begun.copy(memory, 0, 0, this.#length);
      this.#begun = memory;
    }
    part.copy(this.#begun, this.#length);
    this.#length = length;
  }
}
