// Notifies listeners of new tips.

import { setImmediate } from 'node:timers/promises';
import { notify, type Listener } from './listener';
import type { HeaderRecord } from '../../index/types';
import type { ScriptSnapshot } from '../../scripts/types';
import type { Notifier, SettledPasses } from './settled-passes';

/** Listeners that are notified in one turn: for each a write to its connection follows, of some 40 µs. */
const NOTIFIED_IN_TURN = 32;

export interface TipListener extends Listener {
  tipChanged(tip: HeaderRecord): void;
}

export class TipNotifier implements Notifier {
  /** Listeners, each with the hash of the tip that it knows. */
  readonly #listeners = new Map<TipListener, Buffer>();

  constructor(passes: SettledPasses) {
    passes.add(this);
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Notifies the listener of new tips from now on. `known`: the tip that it got just now, which may be older than the index's. */
  add(listener: TipListener, known: HeaderRecord): void {
    this.#listeners.set(listener, known.hash);
  }

  delete(listener: TipListener): void {
    this.#listeners.delete(listener);
  }

  collect({ index: { tip } }: ScriptSnapshot): () => Promise<void> {
    const behind = [...this.#listeners].filter(([, known]) => !known.equals(tip.hash));
    return () => this.#notifyAll(behind, tip);
  }

  async #notifyAll(listeners: readonly (readonly [TipListener, Buffer])[], tip: HeaderRecord): Promise<void> {
    let count = 0;
    for (const [listener, known] of listeners) {
      // A listener that has left or subscribed again since the pass knows more.
      if (this.#listeners.get(listener) !== known) continue;
      this.#listeners.set(listener, tip.hash);
      notify(listener, (one) => {
        one.tipChanged(tip);
      });
      if (++count % NOTIFIED_IN_TURN === 0) await setImmediate();
    }
  }
}
