// Sessions take turns: one request of a session is started, then the session goes to the end of the line. So a session with hundreds of
// requests does not hold up the others, and requests wait here instead of in the work queue, which is shared with HTTP.

import type { Lane } from '../../server/work/work-queue';

export interface TurnTaker {
  /** Whether `begin` would start a request now. */
  hasWork(lane: Lane): boolean;
  /** Starts a request. Gives a promise if the request is not answered at once, which never rejects. */
  begin(lane: Lane): Promise<void> | undefined;
}

/** How long requests are started in one turn of the event loop, while everything else waits. Most are answered at once. */
const TURN_MS = 1;

export class Turns {
  readonly #lane: Lane;
  readonly #most: number;
  readonly #waiting = new Set<TurnTaker>();
  #running = 0;
  #isBeginning = false;
  #next: NodeJS.Immediate | undefined;

  /** `most`: requests that are worked on at a time. */
  constructor(lane: Lane, most: number) {
    this.#lane = lane;
    this.#most = most;
  }

  /** Puts a session that has work at the end of the line, unless it is in the line already. */
  want(taker: TurnTaker): void {
    this.#waiting.add(taker);
    this.#begin();
  }

  leave(taker: TurnTaker): void {
    this.#waiting.delete(taker);
  }

  /** Starts what may be started. A request that is answered at once may make its session want another turn: then the loop goes on. */
  readonly #begin = (): void => {
    if (this.#isBeginning || this.#next !== undefined) return;
    this.#isBeginning = true;
    try {
      this.#beginSome(performance.now() + TURN_MS);
    } finally {
      this.#isBeginning = false;
    }
  };

  #beginSome(end: number): void {
    // The loop reaches elements that are added to the set meanwhile.
    for (const taker of this.#waiting) {
      if (this.#running >= this.#most) break;
      if (performance.now() >= end) {
        this.#next = setImmediate(this.#goOn);
        break;
      }
      this.#waiting.delete(taker);
      if (!taker.hasWork(this.#lane)) continue;
      const answering = taker.begin(this.#lane);
      if (answering !== undefined) {
        this.#running++;
        void answering.then(this.#end);
      }
      if (taker.hasWork(this.#lane)) this.#waiting.add(taker);
    }
  }

  readonly #goOn = (): void => {
    this.#next = undefined;
    this.#begin();
  };

  readonly #end = (): void => {
    this.#running--;
    this.#begin();
  };
}
