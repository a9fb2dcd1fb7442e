// Looks at chain and pool together once both have settled: no block is being connected or disconnected, which the node's own lock
// ensures; the pool has dropped what a block confirmed and taken back what was disconnected, which it does while that lock is held; and
// the index by script stands at the node's tip. So of a reorganization only the outcome is seen, also when it makes the chain shorter.

import { setImmediate } from 'node:timers/promises';
import { IndexUnavailableError } from '../index/errors';
import { ScriptsUnavailableError } from '../scripts/errors';
import type { IndexLogger } from '../index/types';
import type { NodeSource } from '../node/types';
import type { ScriptReader, ScriptSnapshot } from '../scripts/types';

export interface SettledLooksParts {
  readonly node: Pick<NodeSource, 'atRest' | 'tip'>;
  readonly reader: ScriptReader;
  /** Whether anybody wants to know. */
  readonly isNeeded: () => boolean;
  /** In the turn in which it is called, the pool is that of the moment of the snapshot. */
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

  /** To be called when something has happened, or there is more to be looked at: there will be another look. */
  wake(): void {
    this.#isWoken = true;
    if (this.#run !== undefined || !this.#isOpen || !this.#parts.isNeeded()) return;
    this.#run = this.#lookAll().finally(() => {
      this.#run = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  /** Resolves when everything was looked at that has happened so far, as far as the indexes can be read. */
  async settled(): Promise<void> {
    while (this.#run !== undefined) await this.#run;
  }

  /** Looks until nothing is left to be looked at. Never rejects. */
  async #lookAll(): Promise<void> {
    const { node, logger } = this.#parts;
    while (this.#isOpen && this.#isWoken) {
      this.#isWoken = false;
      // Everything else that this turn brings is seen in the same look.
      await setImmediate();
      try {
        await node.atRest(() => this.#lookOnce());
      } catch (error) {
        // The index by script says when it can be read again; a chain that was closed says nothing any more.
        if (!(error instanceof ScriptsUnavailableError || error instanceof IndexUnavailableError) && this.isOpen)
          logger.warning(`Clients were not told of changes: ${error instanceof Error ? error.message : String(error)}.`);
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
