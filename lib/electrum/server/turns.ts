// Sessions take turns: one request of a session is started, then the session goes to the end of the line. So a session with hundreds of
// requests does not hold up the others, and requests wait here instead of in the work queue, which is shared with HTTP.

import { goOnInNextTurn } from '../../turns/next-turn';
import type { Lane } from '../../server/work/work-queue';

export interface TurnTaker {
  /** Whether `begin` would start a request now. */
  hasWork(lane: Lane): boolean;
  /** Starts a request, and does not want a turn meanwhile. Gives a promise if it is not answered at once, which never rejects. */
  begin(lane: Lane): Promise<void> | undefined;
  /** A request that was answered at once took that long: all others have waited for it. */
  tookLong(ms: number): void;
}

/** What is answered at once takes less, unless the disk was slow. */
const LONG_MS = 2;

/** How long requests are started in one turn of the event loop, while everything else waits. Most are answered at once. */
const TURN_MS = 1;

export class Turns {
  readonly #lane: Lane;
  readonly #most: number;
  readonly #waiting = new Set<TurnTaker>();
  #running = 0;
  #isBeginning = false;
  /** What is left of this turn's time: as much as that of the stores for reads that are made at once. */
  #leftMs = TURN_MS;
  /** Whether the next turn's time has been asked for. */
  #isNextDue = false;

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

  /** Starts what may be started. */
  readonly #begin = (): void => {
    if (this.#isBeginning || this.#leftMs <= 0 || this.#waiting.size === 0) return;
    this.#isBeginning = true;
    if (!this.#isNextDue) goOnInNextTurn(this.#goOn);
    this.#isNextDue = true;
    try {
      this.#beginSome();
    } finally {
      this.#isBeginning = false;
    }
  };

  #beginSome(): void {
    const lane = this.#lane;
    let now = performance.now();
    // The loop reaches elements that are added to the set meanwhile.
    for (const taker of this.#waiting) {
      if (this.#running >= this.#most || this.#leftMs <= 0) break;
      this.#waiting.delete(taker);
      let goesOn = taker.hasWork(lane);
      while (goesOn && this.#running < this.#most) {
        const answering = taker.begin(lane);
        if (answering !== undefined) {
          this.#running++;
          void answering.then(this.#end);
        }
        goesOn = taker.hasWork(lane);
        const before = now;
        now = performance.now();
        this.#leftMs -= now - before;
        if (answering === undefined && now - before > LONG_MS) taker.tookLong(now - before);
        // A session that is alone goes on with its next request.
        if (this.#leftMs <= 0 || this.#waiting.size > 0) break;
      }
      if (goesOn) this.#waiting.add(taker);
    }
  }

  readonly #goOn = (): void => {
    this.#isNextDue = false;
    this.#leftMs = TURN_MS;
    this.#begin();
  };

  readonly #end = (): void => {
    this.#running--;
    this.#begin();
  };
}
