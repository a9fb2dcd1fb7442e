// SHA-256 of a text that grows at its end. Most texts are short, and are kept as they are: a state of the hash is a native object, and the
// event loop stands still while the collector ends thousands of them together.

import { createHash, hash, type Hash } from 'node:crypto';

/** Characters of a text that is kept: no more memory than a state. */
const SHORT = 1_024;

/** Does not change. The text is of ASCII characters. */
export class TextHash {
  static readonly EMPTY = new TextHash('');
  /** The text; or the state behind it, to be copied. */
  readonly #before: string | Hash;

  private constructor(before: string | Hash) {
    this.#before = before;
  }

  get isEmpty(): boolean {
    return this.#before === '';
  }

  /** Of memory. */
  get bytes(): number {
    return typeof this.#before === 'string' ? this.#before.length : SHORT;
  }

  /** That of the text with more behind it. */
  plus(more: string): TextHash {
    const before = this.#before;
    if (typeof before !== 'string') return new TextHash(before.copy().update(more));
    const text = before + more;
    return new TextHash(text.length <= SHORT ? text : createHash('sha256').update(text));
  }

  /** 32 characters, one a byte. */
  digest(): string {
    const before = this.#before;
    return typeof before === 'string' ? hash('sha256', before, 'binary') : before.copy().digest('binary');
  }
}
