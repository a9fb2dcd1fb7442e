// Notifies listeners of new tips.

import { setImmediate } from 'node:timers/promises';
import { notify, type Listener } from './listener';
import { NotifiedListeners } from './notifying';
import type { HeaderRecord } from '../../index/types';
import type { ScriptSnapshot } from '../../scripts/types';
import type { Notifier, SettledPasses } from './settled-passes';

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
    const notified = new NotifiedListeners();
    for (const [listener, known] of listeners) {
      // A listener that has left or subscribed again since the pass knows more.
      if (this.#listeners.get(listener) !== known) continue;
      this.#listeners.set(listener, tip.hash);
      notify(listener, (one) => {
        one.tipChanged(tip);
      });
      if (notified.fillTurn()) await setImmediate();
    }
  }
}
