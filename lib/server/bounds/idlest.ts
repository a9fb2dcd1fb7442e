// Finds who has been idle for longest among thousands, when somebody has to make room. That is rare, so nothing is kept in order meanwhile.

/** How often all are looked at, at most. */
const LOOK_MS = 100;

/** Somebody who may go, and since when there was nothing to do for it: a number that ascends. */
interface Idle<T> {
  readonly one: T;
  readonly since: number;
}

export class Idlest<T> {
  readonly #all: () => Iterable<T>;
  readonly #since: (one: T) => number | undefined;
  /** Those that were idle when all were looked at last, the idlest last. */
  #found: Idle<T>[] = [];
  #lookedAt = -Infinity;

  /** `since`: undefined for somebody who is busy or has gone. */
  constructor(all: () => Iterable<T>, since: (one: T) => number | undefined) {
    this.#all = all;
    this.#since = since;
  }

  /** Undefined if nobody is idle. Each of them is given once. */
  next(): T | undefined {
    const now = performance.now();
    if (this.#found.length === 0 && now - this.#lookedAt >= LOOK_MS) {
      this.#lookedAt = now;
      this.#found = this.#look();
    }
    for (let next = this.#found.pop(); next !== undefined; next = this.#found.pop())
      if (this.#since(next.one) === next.since) return next.one;
    return undefined;
  }

  #look(): Idle<T>[] {
    const found: Idle<T>[] = [];
    for (const one of this.#all()) {
      const since = this.#since(one);
      if (since !== undefined) found.push({ one, since });
    }
    return found.sort((a, b) => b.since - a.since);
  }
}
