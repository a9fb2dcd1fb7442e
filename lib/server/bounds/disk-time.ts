// The time in which the process has nothing to do but wait for the disk, shared by the requests that are under way: each pays for its own
// part. While the event loop is busy nobody pays for time: what is done there is charged by what was asked for.

/** What a request may wait without paying for it: some reads of a cold disk. */
const FREE_MS = 10;

/** A point is about a tenth of a millisecond. */
export const POINTS_PER_MS = 10;

export class DiskTime {
  readonly #idleMs: () => number;
  #underWay = 0;
  #at = 0;
  /** What one request would have waited that was always under way, in ms. */
  #share = 0;

  /** `idleMs`: how long the event loop has waited since the start. */
  constructor(idleMs = (): number => performance.eventLoopUtilization().idle) {
    this.#idleMs = idleMs;
  }

  /** A request waits. Returns a function for when it waits no longer, which returns what that costs, in points. */
  begin(): () => number {
    this.#pass();
    this.#underWay++;
    const before = this.#share;
    return () => {
      this.#pass();
      this.#underWay--;
      return Math.max(0, this.#share - before - FREE_MS) * POINTS_PER_MS;
    };
  }

  #pass(): void {
    const now = this.#idleMs();
    if (this.#underWay > 0) this.#share += (now - this.#at) / this.#underWay;
    this.#at = now;
  }
}
