// Moves of the chain that one subscriber is told of, and has to acknowledge.

import type { Subscriber } from 'rxjs';
import type { ChainEvent, ChainMove } from './types/chain';

export class MoveDeliveries {
  readonly #subscriber: Subscriber<ChainEvent>;
  /** What acknowledges each of those under way. */
  readonly #pending = new Set<() => void>();

  constructor(subscriber: Subscriber<ChainEvent>) {
    this.#subscriber = subscriber;
  }

  /** Resolves once the subscriber has acknowledged it, or has left. */
  deliver(move: ChainMove): Promise<void> {
    return new Promise((resolve) => {
      const acknowledge = (): void => {
        this.#pending.delete(acknowledge);
        resolve();
      };
      this.#pending.add(acknowledge);
      this.#subscriber.next({ ...move, acknowledge });
    });
  }

  /** The subscriber has left. */
  end(): void {
    for (const acknowledge of [...this.#pending]) acknowledge();
  }
}
