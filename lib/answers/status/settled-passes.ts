// Passes over chain and pool together once both have settled, for all who tell clients of changes. Settled means: no block is being connected
// or disconnected, which the node's own lock ensures; the pool has dropped confirmed transactions and taken back disconnected ones, which it
// does while that lock is held; and the index by script is at the node's tip. So only the outcome of a reorganization is seen, even if the
// chain gets shorter.

import { setImmediate } from 'node:timers/promises';
import { IndexUnavailableError } from '../../index/errors';
import { ScriptsUnavailableError } from '../../scripts/errors';
import { messageOf } from '../../turns/error-text';
import type { IndexLogger } from '../../follow/logger';
import type { NodeSource } from '../../node/types';
import type { ScriptReader, ScriptSnapshot } from '../../scripts/types';

/** Somebody who tells clients of changes. */
export interface Teller {
  /** Whether there are listeners. */
  readonly isNeeded: () => boolean;
  /** Collects what has changed. Called in the turn of the snapshot, so that the pool is of the same moment. The result tells of it. */
  readonly collect: (snapshot: ScriptSnapshot) => () => Promise<void>;
}

export interface SettledPassesParts {
  readonly node: Pick<NodeSource, 'withChainLock' | 'tip'>;
  readonly reader: ScriptReader;
  readonly logger: Pick<IndexLogger, 'warning'>;
}

export class SettledPasses {
  readonly #parts: SettledPassesParts;
  readonly #tellers: Teller[] = [];
  #isOpen = false;
  #isWoken = false;
  #run: Promise<void> | undefined;

  constructor(parts: SettledPassesParts) {
    this.#parts = parts;
  }

  /** They tell in the order in which they were added. */
  add(teller: Teller): void {
    this.#tellers.push(teller);
  }

  open(): void {
    this.#isOpen = true;
  }

  /** Waits for the pass that is under way. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#run;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Asks for another pass: something has happened, or there is more to collect. */
  wake(): void {
    this.#isWoken = true;
    if (this.#run !== undefined || !this.#isOpen || !this.#tellers.some(({ isNeeded }) => isNeeded())) return;
    this.#run = this.#passAll().finally(() => {
      this.#run = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  /** Resolves when listeners were told of everything so far, or the indexes cannot be read. */
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
        if (!(error instanceof ScriptsUnavailableError || error instanceof IndexUnavailableError) && this.isOpen)
          logger.warning(`Clients were not told of changes: ${messageOf(error)}.`);
      }
    }
  }

  #pass(): Promise<void> {
    const { node, reader } = this.#parts;
    return reader.read(async (snapshot) => {
      if (!snapshot.index.tip.hash.equals(node.tip().hash))
        throw new ScriptsUnavailableError('the index by script is on its way to the tip of the node');
      // All of them collect before anything waits.
      const collected = this.#tellers.filter(({ isNeeded }) => isNeeded()).map(({ collect }) => collect(snapshot));
      const failures: unknown[] = [];
      for (const tell of collected) await tell().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    });
  }
}
