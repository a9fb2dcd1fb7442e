// What several clients ask for while it is being made is made once, and given up only when
// all of them have left.

import type { Waiting } from '../server/work-queue';

interface UnderWay<T> {
  readonly clients: Waiting[];
  readonly result: Promise<T>;
}

export class MadeOnce<T> {
  private readonly underWay = new Map<string, UnderWay<T>>();

  /** `make` gets one client that stands for all who wait. */
  get(key: string, client: Waiting, make: (client: Waiting) => T | Promise<T>): T | Promise<T> {
    const before = this.underWay.get(key);
    if (before !== undefined) {
      before.clients.push(client);
      return before.result;
    }
    const clients = [client];
    const everybody: Waiting = { get isGone() { return clients.every(({ isGone }) => isGone); } };
    const made = make(everybody);
    if (!(made instanceof Promise)) return made;
    const result = made.finally(() => this.underWay.delete(key));
    this.underWay.set(key, { clients, result });
    return result;
  }
}
