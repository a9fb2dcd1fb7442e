// The memory for subscriptions of all clients. Each counts with as much as the largest takes, so that what is shared by clients of one
// script is counted for each of them.

import { CLIENT_SHARE, groupOf, isLoopback } from './address-group';

/** What one subscription takes at most: the client's name for the script, the script's own entries, its status and its latest rows. */
export const SUBSCRIPTION_BYTES = 1_600;

/** Clients have as many subscriptions as there is memory for. */
export class TooManySubscriptionsError extends Error {
  override readonly name = 'TooManySubscriptionsError';
}

export class SubscriptionMemory {
  readonly #most: number;
  readonly #isOwn: (address: string) => boolean;
  #count = 0;
  readonly #ofGroup = new Map<string, number>();

  /** `bytes`: for all together. `isOwn`: whether an address is of the node's machine. */
  constructor(bytes: number, isOwn = isLoopback) {
    this.#isOwn = isOwn;
    this.#most = Math.floor(bytes / SUBSCRIPTION_BYTES);
  }

  /** Subscriptions of all clients. */
  get count(): number {
    return this.#count;
  }

  /** For one client. Clients of the node's machine have no share. */
  open(address: string): ClientSubscriptionMemory {
    return new ClientSubscriptionMemory(this, this.#isOwn(address) ? undefined : groupOf(address));
  }

  /** @throws TooManySubscriptionsError; nothing is taken then */
  take(group: string | undefined): void {
    if (this.#count >= this.#most) throw new TooManySubscriptionsError('too many subscriptions of all clients');
    if (group !== undefined) {
      const others = this.#ofGroup.get(group) ?? 0;
      if (others >= this.#most * CLIENT_SHARE) throw new TooManySubscriptionsError('too many subscriptions of one address');
      this.#ofGroup.set(group, others + 1);
    }
    this.#count++;
  }

  /** Undoes `count` calls of `take` for the group. */
  giveBack(group: string | undefined, count: number): void {
    this.#count -= count;
    if (group === undefined) return;
    const left = (this.#ofGroup.get(group) ?? count) - count;
    if (left === 0) this.#ofGroup.delete(group);
    else this.#ofGroup.set(group, left);
  }
}

export class ClientSubscriptionMemory {
  readonly #all: SubscriptionMemory;
  readonly #group: string | undefined;
  #count = 0;
  #isClosed = false;

  constructor(all: SubscriptionMemory, group: string | undefined) {
    this.#all = all;
    this.#group = group;
  }

  /** For one more subscription. @throws TooManySubscriptionsError */
  take(): void {
    if (this.#isClosed) return;
    this.#all.take(this.#group);
    this.#count++;
  }

  /** After one subscription has ended. */
  giveBack(): void {
    if (this.#isClosed) return;
    this.#all.giveBack(this.#group, 1);
    this.#count--;
  }

  /** Gives everything back. Nothing is counted from now on: the client has gone. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#all.giveBack(this.#group, this.#count);
  }
}
