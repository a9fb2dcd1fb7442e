// Sessions take turns: one request of a session is started, then the session goes to the end of the line. So a session with hundreds of
// requests does not hold up the others, and requests wait here instead of in the work queue, which is shared with HTTP.

import type { Lane } from '../../server/work/work-queue';

export interface TurnTaker {
  /** Whether `begin` would start a request now. */
  hasWork(lane: Lane): boolean;
  /** Never rejects. */
  begin(lane: Lane): Promise<void>;
}

export class Turns {
  readonly #lane: Lane;
  readonly #most: number;
  readonly #waiting = new Set<TurnTaker>();
  #running = 0;

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

  #begin(): void {
    for (const taker of this.#waiting) {
      if (this.#running >= this.#most) return;
      this.#waiting.delete(taker);
      if (!taker.hasWork(this.#lane)) continue;
      this.#running++;
      void taker.begin(this.#lane).then(this.#end);
      // The loop reaches elements that are added to the set meanwhile.
      if (taker.hasWork(this.#lane)) this.#waiting.add(taker);
    }
  }

  readonly #end = (): void => {
    this.#running--;
    this.#begin();
  };
}
