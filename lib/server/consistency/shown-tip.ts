// The block that an interface answers from, and the header that names it.

import { toDisplayHex } from '../../bitcoin/hash';
import type { HeaderRecord } from '../../index/types';
import type { HeaderList } from '../errors';

/** In replies: height and hash of the block that the answer is of. */
const TIP_HEADER = 'X-Rest-Tip';

export class ShownTip {
  readonly #read: () => HeaderRecord;
  #named: HeaderRecord | undefined;
  #headers: HeaderList = [];

  /** `read`: the tip of the snapshot that an answer would be made from now. It may throw while there is none. */
  constructor(read: () => HeaderRecord) {
    this.#read = read;
  }

  /** Identifies the state, since no two states share a tip object. undefined: nothing is answered. */
  get now(): HeaderRecord | undefined {
    try {
      return this.#read();
    } catch {
      // Whoever reads the state for an answer meets the same error, and says it.
      return undefined;
    }
  }

  /**
   * For an answer that is made now. Even within one turn a state may end by the clock: a reader that hears nothing of its fleet answers nothing.
   * @throws what reading throws: HttpError 503, IndexUnavailableError
   */
  get required(): HeaderRecord {
    return this.#read();
  }

  /** The header that names a block; made once for each. */
  headersOf(tip: HeaderRecord): HeaderList {
    if (tip !== this.#named) {
      this.#named = tip;
      this.#headers = [TIP_HEADER, `${tip.height} ${toDisplayHex(tip.hash)}`];
    }
    return this.#headers;
  }
}
