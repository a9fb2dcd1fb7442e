// Reads the files of an open index again and again, slowly, to find damage. Otherwise damage would be noticed only at the next start, or
// never, once LevelDB has merged it into other files. What was not read before the index is used is read at once, in a first pass.

import { setTimeout } from 'node:timers/promises';
import { StoreError } from '../store/errors';
import { messageOf } from '../system/error-text';
import { isDamage } from './errors';
import { megabytes } from './state-text';
import type { Store } from '../store/store';
import type { IndexLogger } from './logger';

/** Half a percent of a core: a gigabyte takes less than a second of processor time. */
const MOST_BYTES_PER_MS = 5_000;

/** The pace of the first pass: a tenth of a core. */
const FIRST_BYTES_PER_MS = 100_000;

/** Pause before the next pass when there was nothing to read, or reading failed. */
const RETRY_MS = 60_000;
/** The same before the first pass: the store is about to be opened. */
const FIRST_RETRY_MS = 100;

export interface ScrubParts {
  readonly store: Store;
  /** For the log. */
  readonly name: 'the index' | 'the index by script' | 'the list of addresses';
  /** Whether all files were read when the store was opened. If not, a first pass reads them at once. */
  readonly wasChecked: boolean;
  readonly logger: IndexLogger;
  /** How long one pass takes; longer if it would read more than five megabytes a second. 0: there is at most the first pass. */
  readonly passMs: number;
  readonly onDamage: (error: Error) => void;
  /** Called with the share of the files that a pass has read, and with undefined at its end. */
  readonly onPart: (share: number | undefined) => void;
  readonly signal: AbortSignal;
}

/** Ends when `signal` is aborted and no read is in progress, or after the first pass if there are no others. Never rejects. */
export async function scrubAgainAndAgain({ store, name, wasChecked, logger, passMs, onDamage, onPart, signal }: ScrubParts): Promise<void> {
  /** Ends early when the signal is aborted. */
  const pause = (ms: number): Promise<void> => setTimeout(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const isOver = (): boolean => signal.aborted;
  let isFirst = !wasChecked;
  let said: string | undefined;
  while (!isOver() && (isFirst || passMs > 0)) {
    const again = isFirst ? '' : ' again';
    let bytes = 0;
    try {
      for await (const { count, total } of store.scrub()) {
        bytes += count;
        onPart(bytes / total);
        await pause(isFirst ? count / FIRST_BYTES_PER_MS : Math.max((passMs * count) / total, count / MOST_BYTES_PER_MS));
        signal.throwIfAborted();
      }
      said = undefined;
      if (bytes > 0) logger.info(`The files of ${name} were looked through${again}: ${megabytes(bytes)}, all sound.`);
    } catch (error) {
      if (isOver()) return;
      bytes = 0;
      const message = messageOf(error);
      // The store was closed, or opened again for another use: the pass begins again.
      const isInterrupted = error instanceof StoreError && error.reason === 'closed';
      if (error instanceof StoreError && isDamage(error)) onDamage(error);
      else if (!isInterrupted && message !== said) logger.warning(`The files of ${name} could not be looked through${again}: ${message}.`);
      said = message;
    }
    onPart(undefined);
    if (bytes > 0) isFirst = false;
    else await pause(isFirst ? FIRST_RETRY_MS : Math.min(RETRY_MS, passMs));
  }
}
