// When the rows of each script changed last: what was made from older rows is right as long as they have not changed since. A table of
// stamps by the script's hash in the index: scripts with the same slot count as changed together. The hashes are made with a secret, so
// nobody can choose scripts that share a slot with others.

import { SCRIPT_HASH_LENGTH } from './script-hasher';

/** 4 MB. A block of 10,000 rows changes one slot in a hundred. */
const SLOTS = 1 << 20;

export class LastChanges {
  readonly #stamps = new Uint32Array(SLOTS);
  /** The stamp from which on single changes are known. */
  #known = 1;
  #now = 1;

  /** The stamp of what is in the store. While a batch is being written it is that of the state before. */
  get now(): number {
    return this.#now;
  }

  /** To be called before rows are written or deleted. `hashes`: for each row the hash of its script. */
  begin(hashes: Buffer): void {
    for (let at = 0; at < hashes.length; at += SCRIPT_HASH_LENGTH) this.#stamps[slotOf(hashes, at)] = this.#now + 1;
  }

  /** To be called once they are in the store. */
  end(): void {
    this.#now++;
  }

  /** To be called when the store was opened, cleared or filled: any script may have changed. */
  all(): void {
    this.#known = ++this.#now;
  }

  /** Whether a script had the same rows at both stamps; false also if that is not known. `hash`: its hash in the index. */
  areSame(hash: Buffer, one: number, other: number): boolean {
    const earlier = Math.min(one, other);
    return earlier >= this.#known && (this.#stamps[slotOf(hash, 0)] as number) <= earlier; // a slot of the table
  }
}

const slotOf = (hashes: Buffer, at: number): number => hashes.readUInt32LE(at) % SLOTS;
