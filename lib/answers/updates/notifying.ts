// The turns of the event loop in which a pass looks things up and notifies listeners.

import { setImmediate } from 'node:timers/promises';
import type { SettledPasses } from './settled-passes';

/** Things that are looked up at the same time. */
const AT_ONCE = 8;

/** Listeners that are notified in one turn: for each a write to its connection follows, of some 40 µs. */
const NOTIFIED_IN_TURN = 32;

/** Groups of what a pass has collected, each in a turn of its own, until the passes end. */
export async function* inGroups<T>(all: readonly T[], passes: Pick<SettledPasses, 'isOpen'>): AsyncGenerator<readonly T[], void> {
  for (let start = 0; start < all.length && passes.isOpen; start += AT_ONCE) {
    if (start > 0) await setImmediate();
    yield all.slice(start, start + AT_ONCE);
  }
}

/** Counts the listeners that one pass notifies. */
export class NotifiedListeners {
  #count = 0;

  /** To be called after each. True: the next one is notified in another turn. */
  fillTurn(): boolean {
    return ++this.#count % NOTIFIED_IN_TURN === 0;
  }
}
