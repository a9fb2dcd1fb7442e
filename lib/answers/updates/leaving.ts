// Ends subscriptions a few in each turn, since a client may have tens of thousands, and thousands of clients may leave at once.

import { setImmediate } from 'node:timers/promises';

/** Less than a millisecond. */
const ENDED_IN_TURN = 512;

export class Leaving<Name, Listener> {
  readonly #end: (name: Name, listener: Listener) => void;
  readonly #waiting: { readonly names: Iterable<Name>; readonly listener: Listener }[] = [];

  /** `end`: ends one subscription, if there is one. */
  constructor(end: (name: Name, listener: Listener) => void) {
    this.#end = end;
  }

  /** Ends the listener's subscriptions to these, after those of who left before. It must ignore what it is notified of meanwhile. */
  add(names: Iterable<Name>, listener: Listener): void {
    if (this.#waiting.push({ names, listener }) === 1) void this.#endAll();
  }

  /** Never rejects. */
  async #endAll(): Promise<void> {
    let count = 0;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      for (const name of next.names) {
        this.#end(name, next.listener);
        if (++count % ENDED_IN_TURN === 0) await setImmediate();
      }
      this.#waiting.shift();
    }
  }
}
