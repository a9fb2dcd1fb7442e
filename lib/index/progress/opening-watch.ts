// What the index says of itself while its files are looked through.

import { percent } from './text';
import type { OpeningProgress } from '../../store/store';
import type { IndexState } from '../types';

/** Less is not worth a word, and more often says no more. */
const REPORT_MS = 1_000;

export class OpeningWatch {
  #saidMs: number;

  /** `startedMs`: as all times, in milliseconds of any one clock. */
  constructor(startedMs: number) {
    this.#saidMs = startedMs;
  }

  /** `checking the files of the index, 3.2 of 12.0 GB (26.7%)`, once a second. */
  state({ done, total }: OpeningProgress, ms: number): IndexState | undefined {
    if (ms - this.#saidMs < REPORT_MS) return undefined;
    this.#saidMs = ms;
    return { phase: 'loading', work: `checking the files of the index, ${gigabytes(done)} of ${gigabytes(total)} GB (${percent(done, total)})` };
  }
}

function gigabytes(bytes: number): string {
  return (bytes / 1_000_000_000).toFixed(1);
}
