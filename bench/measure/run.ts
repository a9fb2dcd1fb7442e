// A run of a benchmark: the folder that it writes, what is saved of it, and the load under which it is.

import { rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { DATA_FOLDER } from '../chain/synthetic-chain';

/** Folder that this run of the benchmark writes; see `cleanUpAndSaveAtExit`. */
export const RUN_FOLDER = join(DATA_FOLDER, `run-${process.pid}`);

/** However the run ends, also when it fails or is interrupted, its folder is removed and the results that there are by then are saved. */
export function cleanUpAndSaveAtExit(file: string | undefined, results: unknown): void {
  // A signal alone would end the process without the event `exit`.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  process.once('exit', () => {
    saveFigures(file, results);
    // LevelDB's threads may still be writing.
    rmSync(RUN_FOLDER, { recursive: true, force: true, maxRetries: 5 });
  });
}

/** `file`: of the option `--json`; undefined: nothing is to be saved. */
export function saveFigures(file: string | undefined, figures: unknown): void {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
}

/** Of the last minute. */
export const loadAverage = (): number => loadavg()[0] ?? 0;

/** Figures from a busy machine mean little: this is printed beside them. */
export const describeLoad = (when: string, load = loadAverage()): string =>
  `load average ${when} ${load.toFixed(1)}: what else runs here is in the figures`;
