// Notifies listeners of new blocks, of each once and in order. New listeners, and all listeners after a reorganization, get the last blocks
// of the chain.

import { notify, type Listener } from '../../answers/updates/listener';
import { NO_CLIENT } from '../../turns/client';
import { extendedBlock } from '../blocks';
import { FIRST_BLOCKS, lastBlocks } from '../mempool/server';
import type { Notifier, SettledPasses } from '../../answers/updates/settled-passes';
import type { IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types/chain';
import type { ScriptSnapshot } from '../../scripts/types';
import type { EsploraContext } from '../endpoint';
import type { Field } from '../messages';
import type { Ancestry } from './ancestry';

export interface BlockListener extends Listener {
  /** `top`: the height of the last block of the message. */
  chainChanged(field: Field, top: number): void;
}

type BlockContext = Pick<EsploraContext, 'blocks' | 'extended'>;

export class BlockUpdates implements Notifier {
  readonly #context: BlockContext;
  readonly #ancestry: Ancestry;
  /** Each with the last block that it knows. A listener that is added while others are notified of a block may know it already. */
  readonly #listeners = new Map<BlockListener, BlockPoint>();
  /** The last blocks, by the tip object of the state. */
  readonly #latest = new WeakMap<BlockPoint, Promise<Buffer>>();

  constructor(context: BlockContext, ancestry: Ancestry, passes: SettledPasses) {
    this.#context = context;
    this.#ancestry = ancestry;
    passes.add(this);
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Adds a listener for new blocks. Gives the last blocks: a JSON array, in ascending order. */
  add(listener: BlockListener, index: IndexSnapshot): Promise<Buffer> {
    this.#ancestry.remember(index);
    this.#listeners.set(listener, index.tip);
    return this.latest(index);
  }

  delete(listener: BlockListener): void {
    this.#listeners.delete(listener);
  }

  /** The last blocks of a state: a JSON array, in ascending order. @throws HttpError 503 when the node does not have one of them */
  latest(index: IndexSnapshot): Promise<Buffer> {
    const { tip } = index;
    const known = this.#latest.get(tip);
    if (known !== undefined) return known;
    const made = index.during(lastBlocks(tip.height, index, NO_CLIENT, this.#context));
    this.#latest.set(tip, made);
    made.catch(() => this.#latest.delete(tip));
    return made;
  }

  /** Listeners that are added later know this state or a newer one. */
  collect({ index }: ScriptSnapshot): () => Promise<void> {
    const { tip } = index;
    const behind = new Set([...this.#listeners.values()].filter(({ hash }) => !hash.equals(tip.hash)));
    const ways = [...behind].map((known) => ({ known, fork: this.#ancestry.forkHeight(known, index) }));
    this.#ancestry.remember(index);
    return async () => {
      for (const { known, fork } of ways) await this.#lead(known, fork, index);
    };
  }

  /** Notifies listeners that know this very block object of everything up to the tip. `fork`: the last height in common with that block. */
  async #lead(from: BlockPoint, fork: number, index: IndexSnapshot): Promise<void> {
    const { tip } = index;
    let known = from;
    const notifyOf = (height: number, field: Field): void => {
      // At the tip all listeners get the same block object again.
      const next = height === tip.height ? tip : (index.headerAt(height) ?? tip); // below the tip there is one at each height
      for (const [listener, point] of this.#listeners) {
        if (point !== known) continue;
        this.#listeners.set(listener, next);
        notify(listener, (one) => {
          one.chainChanged(field, height);
        });
      }
      known = next;
    };
    // If more blocks are new at once, listeners get only the last ones.
    if (tip.height - fork > FIRST_BLOCKS) {
      notifyOf(tip.height, ['blocks', await this.latest(index)]);
      return;
    }
    if (fork !== from.height) notifyOf(fork, ['blocks', await lastBlocks(fork, index, NO_CLIENT, this.#context)]);
    for (let height = fork + 1; height <= tip.height; height++) {
      const block = index.headerAt(height) ?? tip; // below the tip there is one at each height
      notifyOf(height, ['block', (await extendedBlock(block, NO_CLIENT, this.#context)).text]);
    }
  }
}
