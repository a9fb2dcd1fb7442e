// Reads the files of the open index again and again, slowly, to find damage. Otherwise damage would be noticed only at the next
// start, or never, once LevelDB has merged it into other files.

import { setTimeout } from 'node:timers/promises';
import { StoreError } from '../../store/errors';
import { isDamage } from '../errors';
import type { Store } from '../../store/store';
import type { IndexLogger } from '../types';

/** Half a percent of a core: a gigabyte takes less than a second of processor time. */
const MOST_BYTES_PER_MS = 5_000;

/** Pause before the next pass when there was nothing to read, or reading failed. */
const RETRY_MS = 60_000;

export interface ScrubParts {
  readonly store: Store;
  readonly logger: IndexLogger;
  /** How long one pass takes; longer if it would read more than five megabytes a second. */
  readonly passMs: number;
  readonly onDamage: (error: Error) => void;
  readonly signal: AbortSignal;
}

/** Ends when `signal` is aborted and no read is in progress. Never rejects. */
export async function scrubAgainAndAgain({ store, logger, passMs, onDamage, signal }: ScrubParts): Promise<void> {
  /** Ends early when the signal is aborted. */
  const pause = (ms: number): Promise<void> => setTimeout(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const isOver = (): boolean => signal.aborted;
  let said: string | undefined;
  while (!isOver()) {
    let bytes = 0;
    try {
      for await (const { count, total } of store.scrub()) {
        bytes += count;
        await pause(Math.max((passMs * count) / total, count / MOST_BYTES_PER_MS));
        signal.throwIfAborted();
      }
      said = undefined;
      if (bytes > 0) logger.info(`The files of the index were looked through again: ${(bytes / 1_000_000).toFixed(1)} MB, all sound.`);
    } catch (error) {
      if (isOver()) return;
      bytes = 0;
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof StoreError && isDamage(error)) onDamage(error);
      else if (message !== said) logger.warning(`The files of the index could not be looked through again: ${message}.`);
      said = message;
    }
    if (bytes === 0) await pause(Math.min(RETRY_MS, passMs));
  }
}
