// Work that several clients wait for at the same time.

import type { Client } from '../../turns/client';

interface UnderWay<T> {
  readonly everybody: Everybody;
  readonly result: Promise<T>;
}

/** Stands for all clients that wait. */
class Everybody implements Client {
  constructor(readonly clients: Client[]) {}

  get isGone(): boolean {
    return this.clients.every(({ isGone }) => isGone);
  }
}

/** Makes a value once for all clients that ask for it meanwhile, and gives up only when all of them have left. */
export class MadeOnce<T> {
  readonly #underWay = new Map<string, UnderWay<T>>();

  /**
   * `key`: not asked for if nothing is under way and the value is made at once. `make` gets one client that stands for all clients that
   * wait. If it needs no promise, nobody has to wait.
   */
  get(key: string | (() => string), client: Client, make: (client: Client) => Promise<T>): Promise<T>;
  get(key: string | (() => string), client: Client, make: (client: Client) => T | Promise<T>): T | Promise<T>;
  get(key: string | (() => string), client: Client, make: (client: Client) => T | Promise<T>): T | Promise<T> {
    const before = this.#underWay.size === 0 ? undefined : this.#underWay.get(textOf(key));
    // If all clients have left, the work may have been given up already.
    if (before?.everybody.isGone === false) {
      before.everybody.clients.push(client);
      return before.result;
    }
    const everybody = new Everybody([client]);
    const made = make(everybody);
    if (!(made instanceof Promise)) return made;
    const text = textOf(key);
    const result = made.finally(() => {
      if (this.#underWay.get(text) === begun) this.#underWay.delete(text);
    });
    const begun: UnderWay<T> = { everybody, result };
    this.#underWay.set(text, begun);
    return result;
  }
}

const textOf = (key: string | (() => string)): string => (typeof key === 'string' ? key : key());
