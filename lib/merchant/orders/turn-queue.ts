// Changes of records come one after the other: two Payments must not claim one output. Anybody may send Payments, and each is held in
// memory until its turn comes, so only some may wait: of one order fewer than of all. Anybody may ask for an order, too: those who need the
// same change share a turn.

import { PaymentError } from '../../payments/error';

/** Payments that wait or are being taken. */
const MOST_PAYMENTS = 64;
const MOST_OF_ONE_ORDER = 2;

export class TurnQueue {
  #last: Promise<unknown> = Promise.resolve();
  #payments = 0;
  /** Payments that wait or are being taken, by order. */
  readonly #ofOrders = new Map<string, number>();
  /** Shared turns that wait, by order. */
  readonly #shared = new Map<string, Promise<void>>();

  async next<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** The same for one kind of work on an order: of those who want it while it waits, the first one's is done for all. */
  async nextShared(id: string, work: () => Promise<void>): Promise<void> {
    const waiting = this.#shared.get(id);
    if (waiting !== undefined) return waiting;
    const turn = this.next(() => {
      // Who comes from now on may know more.
      this.#shared.delete(id);
      return work();
    });
    this.#shared.set(id, turn);
    return turn;
  }

  /** Whether no further Payment for an order may wait. */
  isFullFor(id: string): boolean {
    return this.#payments >= MOST_PAYMENTS || this.#ofOrder(id) >= MOST_OF_ONE_ORDER;
  }

  /** The same for a Payment. @throws PaymentError `busy` */
  async nextForPayment<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    if (this.isFullFor(id)) throw new PaymentError('busy', 'Other Payments are being taken: send it again in a few seconds.');
    this.#count(id, 1);
    try {
      return await this.next(work);
    } finally {
      this.#count(id, -1);
    }
  }

  #ofOrder(id: string): number {
    return this.#ofOrders.get(id) ?? 0;
  }

  #count(id: string, change: 1 | -1): void {
    this.#payments += change;
    const left = this.#ofOrder(id) + change;
    if (left === 0) this.#ofOrders.delete(id);
    else this.#ofOrders.set(id, left);
  }
}
