// Work that several clients wait for at the same time.

import type { Client } from '../../turns/client';

interface UnderWay<T> {
  readonly clients: Client[];
  readonly result: Promise<T>;
}

/** Makes a value once for all clients that ask for it meanwhile, and gives up only when all of them have left. */
export class MadeOnce<T> {
  readonly #underWay = new Map<string, UnderWay<T>>();

  /** `make` gets one client that stands for all clients that wait. If it needs no promise, nobody has to wait. */
  get(key: string, client: Client, make: (client: Client) => Promise<T>): Promise<T>;
  get(key: string, client: Client, make: (client: Client) => T | Promise<T>): T | Promise<T>;
  get(key: string, client: Client, make: (client: Client) => T | Promise<T>): T | Promise<T> {
    const before = this.#underWay.get(key);
    // If all clients have left, the work may have been given up already.
    if (before?.clients.some(({ isGone }) => !isGone) === true) {
      before.clients.push(client);
      return before.result;
    }
    const clients = [client];
    const everybody: Client = {
      get isGone() {
        return clients.every(({ isGone }) => isGone);
      }
    };
    const made = make(everybody);
    if (!(made instanceof Promise)) return made;
    const result = made.finally(() => {
      if (this.#underWay.get(key) === begun) this.#underWay.delete(key);
    });
    const begun: UnderWay<T> = { clients, result };
    this.#underWay.set(key, begun);
    return result;
  }
}
