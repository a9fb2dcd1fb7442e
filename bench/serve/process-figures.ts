// What another process takes of the machine, as Linux tells it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Time on a processor of all its threads so far, in microseconds; a thread that ends takes its time with it.
 * @throws Error when there is no such process
 */
export function cpuMicroseconds(pid: number): number {
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).reduce((sum, thread) => sum + nanosecondsOf(join(threads, thread)), 0) / 1_000;
}

/** /proc/<pid>/stat has hundredths of a second: too coarse for a cold walk, which takes a few tenths. */
function nanosecondsOf(thread: string): number {
  try {
    return Number(readFileSync(join(thread, 'schedstat'), 'latin1').split(' ', 1)[0]);
  } catch {
    return 0; // it has just ended
  }
}

/** Resident bytes of its own; what it maps of files is the system's to take back. */
export function ownMemory(pid: number): number {
  const [, kibibytes] = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kibibytes) * 1_024;
}

const SAMPLE_MS = 50;

/** The most memory that it holds while something runs. */
export async function withPeakMemory<T>(pid: number, run: () => Promise<T>): Promise<{ readonly result: T; readonly peakBytes: number }> {
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

const REST_SAMPLE_MS = 500;
/** Of one core. */
const REST_SHARE = 0.05;
const LONGEST_WAIT_MS = 120_000;

/** Waits until it has nothing left to do by itself. */
export async function untilAtRest(pid: number): Promise<void> {
  const last = performance.now() + LONGEST_WAIT_MS;
  for (let calm = 0; calm < 3 && performance.now() < last;) {
    const before = cpuMicroseconds(pid);
    await pause(REST_SAMPLE_MS);
    calm = cpuMicroseconds(pid) - before <= REST_SHARE * REST_SAMPLE_MS * 1_000 ? calm + 1 : 0;
  }
}
