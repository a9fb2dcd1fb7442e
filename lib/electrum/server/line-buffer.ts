// Finds lines in what comes over a connection. It holds one line that has begun, and what came last.

import type { Allowance } from './allowance';

const NEW_LINE = 10;
const NOTHING: Buffer = Buffer.alloc(0);

export class LineBuffer {
  readonly #mostBytes: number;
  readonly #allowance: Allowance;
  /** What came last, and how much of it was looked at. */
  #chunk = NOTHING;
  #at = 0;
  /** A line whose end has not come: its bytes so far, in memory that may be longer. */
  #begun = NOTHING;
  #length = 0;
  #isTooLong = false;

  /** `mostBytes`: of a line; those that are longer are dropped. `allowance`: for lines that have begun. */
  constructor(mostBytes: number, allowance: Allowance) {
    this.#mostBytes = mostBytes;
    this.#allowance = allowance;
  }

  push(chunk: Buffer): void {
    const rest = this.#chunk.subarray(this.#at);
    this.#chunk = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    this.#at = 0;
  }

  /** The next line without its end, valid until the next call; undefined: none has come. @throws NoMemoryError */
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

  /** Forgets the line that has begun. */
  clear(): void {
    this.#allowance.giveBack(this.#begun.length);
    this.#begun = NOTHING;
    this.#length = 0;
  }

  #append(part: Buffer): void {
    const length = this.#length + part.length;
    if (length > this.#begun.length) {
      // Pieces of a few bytes must not be copied again and again.
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
