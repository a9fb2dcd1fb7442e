// The fee rate below which a pool that was full lets nothing in, so that nobody fills it for nothing again and again. It falls with time
// (GetMinFee and trackPackageRemoved of Bitcoin Core).

const HALF_LIFE_SECONDS = 12 * 3_600;
/** The rate is computed anew after this many seconds. */
const STEP_SECONDS = 10;

export class RollingFloor {
  readonly #incrementalRate: number;
  #rate = 0;
  #at = 0;
  /** It does not fall before a block has come. */
  #mayFall = false;

  /** `incrementalRate`: satoshis per 1,000 virtual bytes, as all rates here. */
  constructor(incrementalRate: number) {
    this.#incrementalRate = incrementalRate;
  }

  /** A chunk was evicted that paid this rate. */
  evicted(rate: number): void {
    const next = rate + this.#incrementalRate;
    if (next <= this.#rate) return;
    this.#rate = next;
    this.#mayFall = false;
  }

  /** `now`: Unix seconds. */
  blockCame(now: number): void {
    this.#mayFall = true;
    this.#at = now;
  }

  /** A whole number: what is asked for is what is shown. `fullness`: how much of its memory the pool uses, from 0 to 1. `now`: Unix seconds. */
  rate(fullness: number, now: number): number {
    if (!this.#mayFall || this.#rate === 0) return Math.round(this.#rate);
    if (now > this.#at + STEP_SECONDS) {
      const halfLife = HALF_LIFE_SECONDS / (fullness < 0.25 ? 4 : fullness < 0.5 ? 2 : 1);
      this.#rate /= 2 ** ((now - this.#at) / halfLife);
      this.#at = now;
      if (this.#rate < this.#incrementalRate / 2) this.#rate = 0;
    }
    return this.#rate === 0 ? 0 : Math.max(Math.round(this.#rate), this.#incrementalRate);
  }
}
