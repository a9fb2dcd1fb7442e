// How long each block takes: from the moment in which the node connects it until the indexes have it, and until the last client was
// notified of it. Also how deep reorganizations are.

import { filter, Subscription, take } from 'rxjs';
import { Durations } from '../server/figures/durations';
import type { Observable } from 'rxjs';
import type { SettledPasses } from '../answers/updates/settled-passes';
import type { ChainIndex } from '../index/types';
import type { BlockPoint } from '../node/types/chain';
import type { NodeSource } from '../node/types/source';
import type { ScriptsState } from '../scripts/types';

/** Blocks. */
const DEPTHS = [1, 2, 3, 6, 10, 100];

export interface BlockTimesParts {
  readonly node: Pick<NodeSource, 'chain$'>;
  readonly index: Pick<ChainIndex, 'state$' | 'blocks$'>;
  /** Undefined without an index by script. */
  readonly scripts:
    | {
        readonly state$: Observable<ScriptsState>;
        readonly passes: Pick<SettledPasses, 'settled'>;
        /** Whether any client has subscribed to something. */
        hasListeners(): boolean;
      }
    | undefined;
}

export class BlockTimes {
  readonly index = new Durations();
  readonly scripts = new Durations();
  readonly notified = new Durations();
  /** In blocks. */
  readonly reorganizations = new Durations(DEPTHS);
  readonly #parts: BlockTimesParts;
  /** The block that the node has connected last, and when. */
  #latest: { readonly block: BlockPoint; readonly at: number } | undefined;
  /** Blocks that were disconnected one after the other. */
  #undone = 0;
  readonly #following = new Subscription();

  constructor(parts: BlockTimesParts) {
    this.#parts = parts;
  }

  open(): void {
    const { index } = this.#parts;
    // The node tells those first who have come last, and waits for each: the index has to be among them.
    this.#following.add(
      index.state$
        .pipe(
          filter(({ phase }) => phase === 'live'),
          take(1)
        )
        .subscribe(() => {
          this.#follow();
        })
    );
  }

  close(): void {
    this.#following.unsubscribe();
  }

  #follow(): void {
    const { node, index, scripts } = this.#parts;
    this.#following.add(
      node.chain$.subscribe((event) => {
        if (event.type === 'connect') this.#latest = { block: event.block, at: performance.now() };
        event.acknowledge();
      })
    );
    this.#following.add(
      index.blocks$.subscribe(({ type, block }) => {
        if (type === 'disconnect') {
          this.#undone++;
          return;
        }
        if (this.#undone > 0) this.reorganizations.count(this.#undone);
        this.#undone = 0;
        this.#count(this.index, block.height);
      })
    );
    this.#following.add(
      scripts?.state$.subscribe((state) => {
        if (state.phase !== 'live' || !this.#count(this.scripts, state.height) || !scripts.hasListeners()) return;
        void scripts.passes.settled().then(() => {
          this.#count(this.notified, state.height);
        });
      })
    );
  }

  /** Counts the time since the node has connected a block, if that is the latest one; says whether it is. */
  #count(durations: Durations, height: number): boolean {
    if (this.#latest?.block.height !== height) return false;
    durations.count((performance.now() - this.#latest.at) / 1_000);
    return true;
  }
}
