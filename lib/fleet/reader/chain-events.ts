// The moves of a reader's chain as a stream of events. Whoever delivers one waits until all who listen have acknowledged it, or have left.

import { Observable, type Subscriber } from 'rxjs';
import type { BlockEvent, ChainEvent, TipEvent } from '../../node/types/chain';

export type Move = Omit<BlockEvent, 'acknowledge'> | Omit<TipEvent, 'acknowledge'>;

export class ChainEvents {
  readonly events$: Observable<ChainEvent>;
  /** Who listens, and what each has yet to acknowledge. */
  readonly #listeners = new Map<Subscriber<ChainEvent>, Set<() => void>>();

  /** `came`: called when somebody begins to listen. `left`: when nobody listens any more. */
  constructor(came: () => void, left: () => void) {
    this.events$ = new Observable<ChainEvent>((subscriber) => {
      const pending = new Set<() => void>();
      this.#listeners.set(subscriber, pending);
      came();
      return () => {
        this.#listeners.delete(subscriber);
        for (const acknowledge of [...pending]) acknowledge();
        if (this.#listeners.size === 0) left();
      };
    });
  }

  /** Resolves once nobody has to acknowledge it any more. */
  async deliver(move: Move): Promise<void> {
    await Promise.all([...this.#listeners].map(([subscriber, pending]) => deliverTo(subscriber, pending, move)));
  }
}

function deliverTo(subscriber: Subscriber<ChainEvent>, pending: Set<() => void>, move: Move): Promise<void> {
  return new Promise((resolve) => {
    const acknowledge = (): void => {
      pending.delete(acknowledge);
      resolve();
    };
    pending.add(acknowledge);
    subscriber.next({ ...move, acknowledge });
  });
}
