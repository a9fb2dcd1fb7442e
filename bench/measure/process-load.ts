// Load of the process: peak memory, processor time, and when it is at rest.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const SAMPLE_MS = 50;
const REST_SAMPLE_MS = 500;
/** Share of one core. */
const REST_SHARE = 0.03;
const LONGEST_WAIT_MS = 120_000;

/** User and system time of all threads, in milliseconds. */
export function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * Anonymous resident memory of a process, of this one unless another is named, which only Linux knows; pages of files that are mapped can be
 * reclaimed by the system.
 */
export function ownMemory(pid = process.pid): number {
  if (process.platform !== 'linux' && pid === process.pid) return process.memoryUsage.rss();
  const [, kibibytes] = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kibibytes) * 1_024;
}

/** Watches that memory while something runs. */
export async function withPeakMemory<T>(
  run: () => Promise<T>,
  pid = process.pid
): Promise<{ readonly result: T; readonly peakBytes: number }> {
  let peakBytes = ownMemory(pid);
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, ownMemory(pid));
  }, SAMPLE_MS);
  try {
    return { result: await run(), peakBytes };
  } finally {
    clearInterval(timer);
  }
}

/** Waits until the store has nothing left to do in the background. */
export async function untilAtRest(): Promise<void> {
  const last = performance.now() + LONGEST_WAIT_MS;
  for (let calm = 0; calm < 2 && performance.now() < last;) {
    const before = cpuMilliseconds();
    await pause(REST_SAMPLE_MS);
    calm = cpuMilliseconds() - before < REST_SHARE * REST_SAMPLE_MS ? calm + 1 : 0;
  }
}

/** Bytes of the files in a folder. */
export function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
