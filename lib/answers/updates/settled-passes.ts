// Passes over chain and pool together once both have settled, for all who notify clients of changes. Settled means: no block is being
// connected or disconnected, which the node's own lock ensures; the pool has dropped confirmed transactions and taken back disconnected
// ones, which it does while that lock is held; and the index by script is at the node's tip. So only the outcome of a reorganization is seen,
// even if the chain gets shorter.

import { setImmediate } from 'node:timers/promises';
import { merge, type Observable, type Subscription } from 'rxjs';
import { NoStateError } from '../../index/errors';
import { ScriptsUnavailableError } from '../../scripts/errors';
import { detailsOf, messageOf } from '../../system/error-text';
import type { IndexLogger } from '../../follow/logger';
import type { NodeSource } from '../../node/types/source';
import type { ScriptPool } from '../../pool/by-script/script-pool';
import type { ScriptReader, ScriptSnapshot, ScriptsState, WatchedScripts } from '../../scripts/types';
import type { Change } from './changes';

/** Somebody who notifies clients of changes. */
export interface Notifier {
  /** How much clients have subscribed to. While it is nothing, the notifier has no part in passes and hears of no changes. */
  readonly size: number;
  /** Whether it wants to know what blocks do with a script: its SHA-256 as a latin1 string. */
  watches?(script: string): boolean;
  /** Takes in a change. Whoever reads chain and pool in the same turn, or later, gets the state after it. */
  changed?(change: Change): void;
  /** Collects what has changed. Called in the turn of the snapshot, so that the pool is of the same moment. The result notifies of it. */
  collect(snapshot: ScriptSnapshot): () => Promise<void>;
}

export interface SettledPassesParts {
  readonly node: Pick<NodeSource, 'withChainLock' | 'tip'>;
  readonly scripts: {
    readonly reader: ScriptReader;
    readonly watched: WatchedScripts;
    readonly state$: Observable<ScriptsState>;
  };
  readonly pool: Pick<ScriptPool, 'changes$'>;
  readonly logger: Pick<IndexLogger, 'warning' | 'error'>;
}

export class SettledPasses {
  readonly #parts: SettledPassesParts;
  readonly #notifiers: Notifier[] = [];
  #subscription: Subscription | undefined;
  #isOpen = false;
  #isWoken = false;
  #run: Promise<void> | undefined;

  constructor(parts: SettledPassesParts) {
    this.#parts = parts;
  }

  /** They notify in the order in which they were added. */
  add(notifier: Notifier): void {
    this.#notifiers.push(notifier);
  }

  /** Passes follow changes from now on. */
  open(): void {
    const { scripts, pool } = this.#parts;
    this.#isOpen = true;
    this.#subscription = merge(scripts.watched.changes$, pool.changes$).subscribe((change) => {
      this.#changed(change);
    });
    // It says so after every block, too.
    this.#subscription.add(
      scripts.state$.subscribe(({ phase }) => {
        if (phase === 'live') this.wake();
      })
    );
  }

  /** Takes in no more changes, and waits for the pass that is under way. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#subscription?.unsubscribe();
    await this.#run;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** To be called when a notifier begins to watch a script. */
  watch(script: string): void {
    this.#parts.scripts.watched.add(script);
  }

  /** To be called when a notifier has stopped watching a script. Another one may go on. */
  unwatch(script: string): void {
    if (!this.#notifiers.some((notifier) => notifier.watches?.(script))) this.#parts.scripts.watched.delete(script);
  }

  /** Asks for another pass: something has changed that concerns listeners, or there is more to collect. */
  wake(): void {
    this.#isWoken = true;
    if (this.#run === undefined && this.#isOpen && this.#needed.length > 0) this.#run = this.#passAll();
  }

  /** Resolves when listeners were notified of everything so far, or the indexes cannot be read. */
  async settled(): Promise<void> {
    while (this.#run !== undefined) await this.#run;
  }

  /** Passes until there is nothing left to collect. Never rejects. */
  async #passAll(): Promise<void> {
    const { node, logger } = this.#parts;
    while (this.#isOpen && this.#isWoken) {
      this.#isWoken = false;
      // Waits a turn, so that everything else that happens in this turn is seen in the same pass.
      await setImmediate();
      try {
        await node.withChainLock(() => this.#pass());
      } catch (error) {
        // The index by script announces when it can be read again. After closing, errors do not matter.
        if (!(error instanceof NoStateError) && this.isOpen) logger.warning(`Clients were not told of changes: ${messageOf(error)}.`);
      }
    }
    this.#run = undefined;
  }

  #pass(): Promise<void> {
    const { node, scripts } = this.#parts;
    return scripts.reader.read(async (snapshot) => {
      if (!snapshot.index.tip.hash.equals(node.tip().hash))
        throw new ScriptsUnavailableError('the index by script is on its way to the tip of the node');
      // Whatever has asked for a pass until now gets this one.
      this.#isWoken = false;
      // All of them collect before anything waits.
      const collected = this.#needed.map((notifier) => notifier.collect(snapshot));
      const failures: unknown[] = [];
      for (const notify of collected) await notify().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    });
  }

  get #needed(): Notifier[] {
    return this.#notifiers.filter(({ size }) => size > 0);
  }

  #changed(change: Change): void {
    for (const notifier of this.#needed)
      try {
        notifier.changed?.(change);
      } catch (error) {
        // No reason for the others to miss the change.
        this.#parts.logger.error(`scripts: ${detailsOf(error)}`);
      }
  }
}
