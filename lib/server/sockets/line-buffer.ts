// Finds lines in the bytes of a connection. It holds one incomplete line, and the chunk that came last.

import { Collected } from '../bounds/collected';

const NEW_LINE = 10;
const NOTHING: Buffer = Buffer.alloc(0);

export class LineBuffer {
  readonly #mostBytes: number;
  /** The chunk that came last, and how much of it was searched. */
  #chunk = NOTHING;
  #at = 0;
  /** An incomplete line. */
  readonly #begun: Collected;
  #isTooLong = false;

  /** `mostBytes`: of a line; longer lines are dropped. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#begun = new Collected(mostBytes);
  }

  /** Bytes of memory that are taken: 0 after complete lines. */
  get memoryBytes(): number {
    return this.#begun.memoryBytes + this.#chunk.length;
  }

  /** `chunk`: is not copied, and must not change. */
  push(chunk: Buffer): void {
    const rest = this.#chunk.subarray(this.#at);
    this.#chunk = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    this.#at = 0;
  }

  /** The next line without its line feed, valid until the next call; undefined if there is none yet. */
  next(): Buffer | undefined {
    for (;;) {
      const end = this.#chunk.indexOf(NEW_LINE, this.#at);
      const part = this.#chunk.subarray(this.#at, end < 0 ? undefined : end);
      this.#at += part.length + (end < 0 ? 0 : 1);
      const isTooLong = this.#isTooLong || this.#begun.length + part.length > this.#mostBytes;
      if (isTooLong) this.#begun.take();
      this.#isTooLong = isTooLong && end < 0;
      if (end < 0) {
        if (!isTooLong && part.length > 0) this.#begun.append(part);
        this.#chunk = NOTHING;
        this.#at = 0;
        return undefined;
      }
      if (isTooLong) continue;
      if (this.#begun.length === 0) return part;
      this.#begun.append(part);
      return this.#begun.take();
    }
  }

  /** Drops everything. */
  clear(): void {
    this.#begun.take();
    this.#chunk = NOTHING;
  }
}
