// Looks through the files of the open index again and again, slowly. Damage in them would otherwise be noticed at the next
// start, or never, once LevelDB has merged it.

import { setTimeout } from 'node:timers/promises';
import { StoreError } from '../../store/errors';
import { isDamage } from '../errors';
import type { Store } from '../../store/store';
import type { IndexLogger } from '../types';

/** Half a hundredth of a core: a gigabyte takes less than a second of processor time. */
const MOST_BYTES_PER_MS = 5_000;

/** When there was nothing to look through, or it could not be done. */
const RETRY_MS = 60_000;

export interface ScrubParts {
  readonly store: Store;
  readonly logger: IndexLogger;
  /** How long one time takes; longer where that would be more than five megabytes a second. 0: never. */
  readonly passMs: number;
  readonly onDamage: (error: Error) => void;
}

export class Scrub {
  readonly #parts: ScrubParts;
  readonly #abort = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(parts: ScrubParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#parts.passMs > 0) this.#work = this.#run();
  }

  /** Waits for the read that is under way. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.#work;
  }

  async #run(): Promise<void> {
    const { logger, passMs, onDamage } = this.#parts;
    let said: string | undefined;
    while (!this.#isOver()) {
      let bytes = 0;
      try {
        bytes = await this.#pass();
        said = undefined;
        if (bytes > 0) logger.info(`The files of the index were looked through again: ${(bytes / 1_000_000).toFixed(1)} MB, all sound.`);
      } catch (error) {
        if (this.#isOver()) return;
        const message = error instanceof Error ? error.message : String(error);
        if (error instanceof StoreError && isDamage(error)) onDamage(error);
        else if (message !== said) logger.warning(`The files of the index could not be looked through again: ${message}.`);
        said = message;
      }
      if (bytes === 0) await this.#pause(Math.min(RETRY_MS, passMs));
    }
  }

  /** Returns how many bytes it has looked through. @throws StoreError (corrupt) */
  async #pass(): Promise<number> {
    const { store, passMs } = this.#parts;
    let bytes = 0;
    for await (const { count, total } of store.scrub()) {
      bytes += count;
      await this.#pause(Math.max(passMs * count / total, count / MOST_BYTES_PER_MS));
      if (this.#isOver()) break;
    }
    return bytes;
  }

  /** Shorter than that only when it is over. */
  async #pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#abort.signal, ref: false }).catch(() => undefined);
  }

  #isOver(): boolean {
    return this.#abort.signal.aborted;
  }
}
