// What the index says of itself while a migration is under way.

import { speedText, duration, percent } from './text';
import type { MigrationProgress } from '../../store/migrate';
import type { IndexState } from '../types';

/** Less says nothing yet. */
const LEAST_MS = 1_000;

export class MigrationWatch {
  #firstPart: number | undefined;

  /** `startedMs`: as all times, in milliseconds of any one clock. */
  constructor(private readonly startedMs: number) {}

  /** `migrating index, 43.2%, 4.5 MB/s, 2 min left`, the last two as soon as they are known. */
  state({ part, bytes }: MigrationProgress, ms: number): IndexState {
    // One that was interrupted goes on in the middle.
    const firstPart = this.#firstPart ??= part;
    const elapsed = ms - this.startedMs;
    const known = elapsed >= LEAST_MS && part > firstPart;
    return {
      phase: 'loading',
      work: ['migrating index', percent(part, 1), ...known ? [
        speedText(bytes * 1_000 / elapsed),
        `${duration(elapsed * (1 - part) / (part - firstPart) / 1_000)} left`
      ] : []].join(', ')
    };
  }
}
