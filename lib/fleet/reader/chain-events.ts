// The moves of a reader's chain as a stream of events. Whoever delivers one waits until all who listen have acknowledged it, or have left.

import { Observable } from 'rxjs';
import { MoveDeliveries } from '../../node/move-deliveries';
import type { ChainEvent, ChainMove } from '../../node/types/chain';

export class ChainEvents {
  readonly events$: Observable<ChainEvent>;
  /** To each who listens. */
  readonly #all = new Set<MoveDeliveries>();

  /** `came`: called when somebody begins to listen. `left`: when nobody listens any more. */
  constructor(came: () => void, left: () => void) {
    this.events$ = new Observable<ChainEvent>((subscriber) => {
      const own = new MoveDeliveries(subscriber);
      this.#all.add(own);
      came();
      return () => {
        this.#all.delete(own);
        own.end();
        if (this.#all.size === 0) left();
      };
    });
  }

  /** Resolves once nobody has to acknowledge it any more. */
  async deliver(move: ChainMove): Promise<void> {
    await Promise.all([...this.#all].map((one) => one.deliver(move)));
  }
}
