// What clients cost, in points: about a tenth of a millisecond of processor time each. Points drain away with time. Clients of one address
// share their points, so that connecting again gains nothing.

import { groupOf } from './address-group';

/** The share of the hard limit above which a client is slowed down. */
const SOFT_SHARE = 0.1;

/** The share of the hard limit that drains away in a second: with a limit of ten processor seconds, a hundredth of a processor. */
const DRAIN_SHARE = 0.001;

/** The delay between two requests of a client that is about to be cut off. */
const MOST_DELAY_MS = 2_500;

export interface Account {
  charge(points: number): void;
  /** How long the next request has to wait; 0: not at all. */
  readonly delayMs: number;
  /** Whether the client is cut off. */
  readonly isOverdrawn: boolean;
}

const FREE: Account = { charge: () => undefined, delayMs: 0, isOverdrawn: false };

class PointAccount implements Account {
  readonly #hard: number;
  readonly #soft: number;
  /** Those that were there at `#at`, and those that were charged since. */
  #before = 0;
  #charged = 0;
  #at = performance.now();

  constructor(hard: number) {
    this.#hard = hard;
    this.#soft = hard * SOFT_SHARE;
  }

  charge(points: number): void {
    this.#charged += points;
  }

  /** To be called every few seconds: points that were charged drain away only from then on. */
  get points(): number {
    const now = performance.now();
    const drained = ((now - this.#at) / 1_000) * this.#hard * DRAIN_SHARE;
    this.#before = Math.max(0, this.#before - drained) + this.#charged;
    this.#charged = 0;
    this.#at = now;
    return this.#before;
  }

  get delayMs(): number {
    if (this.#isAtMost(this.#soft)) return 0;
    const share = (this.points - this.#soft) / (this.#hard - this.#soft);
    return share <= 0 ? 0 : Math.min(1, share) * MOST_DELAY_MS;
  }

  get isOverdrawn(): boolean {
    return !this.#isAtMost(this.#soft) && this.points >= this.#hard;
  }

  /** Whether that is so without a look at the clock, as it is for nearly all clients. */
  #isAtMost(points: number): boolean {
    return this.#before + this.#charged <= points;
  }
}

export class Accounts {
  readonly #hard: number;
  readonly #isFree: (address: string) => boolean;
  readonly #accounts = new Map<string, PointAccount>();

  /** `hard`: points above which a client is cut off; 0: nothing is counted. `isFree`: whether clients of an address cost nothing. */
  constructor(hard: number, isFree: (address: string) => boolean) {
    this.#hard = hard;
    this.#isFree = isFree;
  }

  /** The account that all clients of the address's group share; one without bounds where clients cost nothing. */
  of(address: string): Account {
    if (this.#hard === 0 || this.#isFree(address)) return FREE;
    const group = groupOf(address);
    let account = this.#accounts.get(group);
    if (account === undefined) this.#accounts.set(group, (account = new PointAccount(this.#hard)));
    return account;
  }

  /** Drops accounts whose points have drained away. `isThere`: whether the address has sessions. */
  sweep(isThere: (group: string) => boolean): void {
    for (const [group, account] of this.#accounts) if (account.points === 0 && !isThere(group)) this.#accounts.delete(group);
  }
}
