// SHA-256 of a text that grows at its end. Most texts are short and are kept as they are: a hash state is a native object, and the event
// loop is blocked while the garbage collector frees thousands of them together.

import { createHash, hash, type Hash } from 'node:crypto';

/** The longest text that is kept as it is: it takes no more memory than a hash state. */
const SHORT = 1_024;

/** Immutable. The text must be ASCII. */
export class TextHash {
  static readonly EMPTY = new TextHash('');
  /** The text, or the hash state after it, which is copied before use. */
  readonly #before: string | Hash;

  private constructor(before: string | Hash) {
    this.#before = before;
  }

  get isEmpty(): boolean {
    return this.#before === '';
  }

  /** Bytes of memory. */
  get bytes(): number {
    return typeof this.#before === 'string' ? this.#before.length : SHORT;
  }

  /** The hash of the text with `more` appended. */
  plus(more: Buffer): TextHash {
    if (more.length === 0) return this;
    const before = this.#before;
    if (typeof before !== 'string') return new TextHash(before.copy().update(more));
    if (before.length + more.length <= SHORT) return new TextHash(before + more.toString('latin1'));
    return new TextHash(createHash('sha256').update(before).update(more));
  }

  /** 32 bytes as a latin1 string. */
  digest(): string {
    const before = this.#before;
    return typeof before === 'string' ? hash('sha256', before, 'binary') : before.copy().digest('binary');
  }
}
