// How much enters the pool: virtual bytes a second, on average over the last minutes.

import type { Observable } from 'rxjs';
import type { ScriptPoolChange } from '../../pool/by-script/script-pool';

/** As long as mempool's backend looks back. */
const SECONDS = 150;

export class PoolInflow {
  /** Virtual bytes of each second, by its number modulo SECONDS. */
  readonly #seconds = new Float64Array(SECONDS);
  #latest = seconds();

  constructor(changes$: Observable<ScriptPoolChange>) {
    changes$.subscribe((change) => {
      if (change.type !== 'enter') return;
      this.#advance();
      this.#seconds[this.#latest % SECONDS] = (this.#seconds[this.#latest % SECONDS] as number) + change.transaction.vsize; // within
    });
  }

  /** Virtual bytes, rounded. */
  get perSecond(): number {
    this.#advance();
    return Math.round(this.#seconds.reduce((sum, vsize) => sum + vsize, 0) / SECONDS);
  }

  #advance(): void {
    const now = seconds();
    for (let second = Math.max(this.#latest + 1, now - SECONDS + 1); second <= now; second++) this.#seconds[second % SECONDS] = 0;
    this.#latest = now;
  }
}

const seconds = (): number => Math.floor(performance.now() / 1_000);
