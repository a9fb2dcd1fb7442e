// Which transactions were lately replaced in the pool, and by which ones.

import { keyOf } from '../../bitcoin/hash';

/** How many are remembered, some 200 bytes each. */
const MOST = 10_000;

export class Replacements {
  /** Txids of replacements, by those of the replaced as keys; the oldest first. */
  readonly #replacements = new Map<string, Buffer>();

  get size(): number {
    return this.#replacements.size;
  }

  /** `replaced`: a txid as a key (`keyOf`). `replacement`: a txid in wire order. The oldest is forgotten when there are too many. */
  add(replaced: string, replacement: Buffer): void {
    this.#replacements.delete(replaced);
    this.#replacements.set(replaced, replacement);
    if (this.#replacements.size <= MOST) return;
    for (const oldest of this.#replacements.keys()) {
      this.#replacements.delete(oldest);
      break;
    }
  }

  /** The transaction is back in the pool. */
  delete(replaced: string): void {
    this.#replacements.delete(replaced);
  }

  /** The txid of what took the place of a transaction, or of one that it descended from. */
  of(txid: Buffer): Buffer | undefined {
    return this.#replacements.get(keyOf(txid));
  }
}
