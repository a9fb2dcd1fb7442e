// Sessions take turns: of each that has work one piece is begun, then it stands behind the others. So a session with hundreds of
// requests holds nobody up, and what waits waits here, and not in the work queue that is shared with HTTP.

import type { Lane } from '../../rest/server/work-queue';

export interface TurnTaker {
  /** Whether `begin` would begin something now. */
  hasWork(lane: Lane): boolean;
  /** Never rejects. */
  begin(lane: Lane): Promise<void>;
}

export class Turns {
  readonly #lane: Lane;
  readonly #most: number;
  readonly #waiting = new Set<TurnTaker>();
  #running = 0;

  /** `most`: pieces of work at a time. */
  constructor(lane: Lane, most: number) {
    this.#lane = lane;
    this.#most = most;
  }

  /** It has work, and stands in the row from now on if it does not yet. */
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
      // A set goes on with what is added behind.
      if (taker.hasWork(this.#lane)) this.#waiting.add(taker);
    }
  }

  readonly #end = (): void => {
    this.#running--;
    this.#begin();
  };
}
