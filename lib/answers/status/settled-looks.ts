// Looks at chain and pool together once both have settled. Settled means: no block is being connected or disconnected, which the node's
// own lock ensures; the pool has dropped confirmed transactions and taken back disconnected ones, which it does while that lock is held;
// and the index by script is at the node's tip. So only the outcome of a reorganization is seen, even if the chain gets shorter.

import { messageOf } from '../../turns/error-text';
import { setImmediate } from 'node:timers/promises';
import { IndexUnavailableError } from '../../index/errors';
import { ScriptsUnavailableError } from '../../scripts/errors';
import type { IndexLogger } from '../../index/types';
import type { NodeSource } from '../../node/types';
import type { ScriptReader, ScriptSnapshot } from '../../scripts/types';

export interface SettledLooksParts {
  readonly node: Pick<NodeSource, 'atRest' | 'tip'>;
  readonly reader: ScriptReader;
  /** Whether there are listeners. */
  readonly isNeeded: () => boolean;
  /** Called in the turn of the snapshot: until it waits, the pool is of the same moment. */
  readonly look: (snapshot: ScriptSnapshot) => Promise<void>;
  readonly logger: Pick<IndexLogger, 'warning'>;
}

export class SettledLooks {
  readonly #parts: SettledLooksParts;
  #isOpen = false;
  #isWoken = false;
  #run: Promise<void> | undefined;

  constructor(parts: SettledLooksParts) {
    this.#parts = parts;
  }

  open(): void {
    this.#isOpen = true;
  }

  /** Waits for the look that is under way. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#run;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Asks for another look: something has happened, or there is more to look at. */
  wake(): void {
    this.#isWoken = true;
    if (this.#run !== undefined || !this.#isOpen || !this.#parts.isNeeded()) return;
    this.#run = this.#lookAll().finally(() => {
      this.#run = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  /** Resolves when everything so far was looked at, or the indexes cannot be read. */
  async settled(): Promise<void> {
    while (this.#run !== undefined) await this.#run;
  }

  /** Looks until there is nothing left to look at. Never rejects. */
  async #lookAll(): Promise<void> {
    const { node, logger } = this.#parts;
    while (this.#isOpen && this.#isWoken) {
      this.#isWoken = false;
      // Waits a turn, so that everything else that happens in this turn is seen in the same look.
      await setImmediate();
      try {
        await node.atRest(() => this.#lookOnce());
      } catch (error) {
        // The index by script announces when it can be read again. After closing, errors do not matter.
        if (!(error instanceof ScriptsUnavailableError || error instanceof IndexUnavailableError) && this.isOpen)
          logger.warning(`Clients were not told of changes: ${messageOf(error)}.`);
      }
    }
  }

  #lookOnce(): Promise<void> {
    const { node, reader, look } = this.#parts;
    return reader.read(async (snapshot) => {
      if (!snapshot.index.tip.hash.equals(node.tip().hash))
        throw new ScriptsUnavailableError('the index by script is on its way to the tip of the node');
      await look(snapshot);
    });
  }
}
