// When the pool's part of each script changed last: an answer that was made from it is right as long as it has not changed since. As for
// the rows of the index (lib/scripts/records/last-changes.ts): a table of revisions by the script's SHA-256, in which scripts with the same
// slot count as changed together.

/** 1 MB. A pool that takes in thirty scripts a second changes one slot in a hundred in a minute and a half. */
const SLOTS = 1 << 18;

export class LastPoolChanges {
  readonly #revisions = new Uint32Array(SLOTS);
  /** The revision from which on single changes are known. */
  #known = 0;
  #now = 0;

  /** A number that is different after every change. */
  get now(): number {
    return this.#now;
  }

  /** To be called in the turn in which the pool's part of these scripts changes. `scripts`: each its SHA-256 as a latin1 string. */
  of(scripts: readonly string[]): void {
    this.#now++;
    for (const script of scripts) this.#revisions[slotOf(script)] = this.#now;
  }

  /** To be called when the pool's part of any script may have changed. */
  ofAll(): void {
    this.#known = ++this.#now;
  }

  /** Whether the pool's part of a script is what it was at the revision; false also if that is not known. */
  isSame(script: string, revision: number): boolean {
    return revision >= this.#known && (this.#revisions[slotOf(script)] as number) <= revision; // a slot of the table
  }
}

/** From the first 18 bits. */
const slotOf = (script: string): number =>
  ((script.charCodeAt(0) << 10) | (script.charCodeAt(1) << 2) | (script.charCodeAt(2) >> 6)) & (SLOTS - 1);
