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
  #points = 0;
  #at = performance.now();

  constructor(hard: number) {
    this.#hard = hard;
  }

  charge(points: number): void {
    this.#points = this.points + points;
    this.#at = performance.now();
  }

  get points(): number {
    const drained = ((performance.now() - this.#at) / 1_000) * this.#hard * DRAIN_SHARE;
    return Math.max(0, this.#points - drained);
  }

  get delayMs(): number {
    const soft = this.#hard * SOFT_SHARE;
    const share = (this.points - soft) / (this.#hard - soft);
    return share <= 0 ? 0 : Math.min(1, share) * MOST_DELAY_MS;
  }

  get isOverdrawn(): boolean {
    return this.points >= this.#hard;
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
