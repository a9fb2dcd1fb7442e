// What another process takes of the machine, as Linux tells it.

import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** The unit of /proc/<pid>/stat is fixed for programs (USER_HZ). */
const TICK_MICROSECONDS = 10_000;
const UTIME = 11;
const STIME = 12;

/** User and system time of all its threads so far, in microseconds. */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in the second field may hold anything, spaces too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[UTIME]) + Number(fields[STIME])) * TICK_MICROSECONDS;
}

/** Resident bytes of its own; what it maps of files is the system's to take back. */
export function ownMemory(pid: number): number {
  const [, kibibytes] = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kibibytes) * 1_024;
}

const SAMPLE_MS = 50;

/** The most that it holds while something runs. */
export async function withPeakMemory<T>(pid: number, run: () => Promise<T>): Promise<{ readonly result: T; readonly peakBytes: number }> {
  let peakBytes = ownMemory(pid);
  const timer = setInterval(() => { peakBytes = Math.max(peakBytes, ownMemory(pid)); }, SAMPLE_MS);
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
