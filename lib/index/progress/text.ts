// Progress in words, for the log, the gate and the command line.

import { megabytes } from '../../follow/state-text';
import { secondsLeft as secondsTo } from './pace';
import type { OpeningProgress } from '../../store/store';
import type { BackfillProgress, IndexState, Pace } from '../types';

type Indexing = Extract<IndexState, { readonly phase: 'indexing' }>;

/** `850000 of 900000 (94.4%), 41.2 MB/s, 310000 coins/s, 12 min left`, as far as these are known. */
export function indexingText({ height, target, pace, secondsLeft }: Indexing): string {
  const parts = [`${height} of ${target} (${percent(height, target)})`];
  if (pace !== undefined) parts.push(paceText(pace));
  if (secondsLeft !== undefined) parts.push(`${duration(secondsLeft)} left`);
  return parts.join(', ');
}

/** `12345678 of 80000000 (15.4%)`. */
export function copyingText({ coins, of }: Extract<IndexState, { readonly phase: 'copying' }>): string {
  return `${coins} of ${of} (${percent(coins, of)})`;
}

/** `checking the files of the index, 3.2 of 12.0 GB (26.6%)`. */
export function checkingText({ done, total }: OpeningProgress): string {
  const [checked, all] = [done, total].map((bytes) => (bytes / 1_000_000_000).toFixed(1));
  return `checking the files of the index, ${checked} of ${all} GB (${percent(done, total)})`;
}

/** `migrating index, 43.2%, 4.5 MB/s, 2 min left`, as far as these are known. `part`: 0 to 1; `pace`: that of `part`. */
export function migratingText(part: number, pace: Pace | undefined): string {
  const parts = ['migrating index', percent(part, 1)];
  if (pace !== undefined) parts.push(speedText(pace.bytesPerSecond), `${duration(secondsTo(part, 1, pace))} left`);
  return parts.join(', ');
}

/** `43.0% (height 123456)`. */
export function backfillText({ height, from }: BackfillProgress): string {
  return `${percent(from + 1 - height, from + 1)} (height ${height})`;
}

/** `4.5 MB/s, 81234 coins/s`. */
export function paceText({ bytesPerSecond, coinsPerSecond }: Pace): string {
  return `${speedText(bytesPerSecond)}, ${Math.round(coinsPerSecond)} coins/s`;
}

function speedText(bytesPerSecond: number): string {
  return `${megabytes(bytesPerSecond)}/s`;
}

/** Truncated, not rounded: 100 % is shown only when the work is done. */
export function percent(part: number, whole: number): string {
  const thousandths = whole > 0 ? Math.floor((part / whole) * 1_000) : 0;
  return `${(thousandths / 10).toFixed(1)}%`;
}

/** Rounded up: `45 s`, `12 min`, `3 h 20 min`. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
