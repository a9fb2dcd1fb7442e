// Load of another process, as Linux reports it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Processor time of all its threads so far, in microseconds; the time of threads that have ended is lost.
 * @throws Error when there is no such process
 */
export function cpuMicroseconds(pid: number): number {
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).reduce((sum, thread) => sum + nanosecondsOf(join(threads, thread)), 0) / 1_000;
}

/**
 * Starts counting the processor time of all their threads; the function says how much it was since then, in microseconds. Only what a thread
 * took that has ended meanwhile is lost, not what it had taken before.
 * @throws Error when there is no such process
 */
export function countCpu(pids: readonly number[]): () => number {
  const folders = pids.map((pid) => `/proc/${pid}/task`);
  const times = (): Map<string, number> =>
    new Map(folders.flatMap((folder) => readdirSync(folder).map((thread) => [join(folder, thread), nanosecondsOf(join(folder, thread))])));
  const before = times();
  return () => [...times()].reduce((sum, [thread, time]) => sum + Math.max(0, time - (before.get(thread) ?? 0)), 0) / 1_000;
}

/** Not from /proc/<pid>/stat, which has hundredths of a second: too coarse for a cold walk of a few tenths. */
function nanosecondsOf(thread: string): number {
  try {
    return Number(readFileSync(join(thread, 'schedstat'), 'latin1').split(' ', 1)[0]);
  } catch {
    return 0; // it has just ended
  }
}

/** Ticks of the clock in /proc/<pid>/stat: a hundredth of a second on every Linux of today. */
const TICK_MICROSECONDS = 10_000;

/** Processor time of the process so far, with that of threads that have ended, in microseconds, to a hundredth of a second. */
export function wholeCpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name of the program, in brackets, may contain spaces; the state of the process follows it, then ten fields, then these two.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS;
}

const REST_SAMPLE_MS = 500;
/** Share of one core. */
const REST_SHARE = 0.05;
const LONGEST_WAIT_MS = 120_000;

/** Waits until it is idle. */
export async function untilAtRest(pid: number): Promise<void> {
  const last = performance.now() + LONGEST_WAIT_MS;
  for (let calm = 0; calm < 3 && performance.now() < last;) {
    const before = cpuMicroseconds(pid);
    await pause(REST_SAMPLE_MS);
    calm = cpuMicroseconds(pid) - before <= REST_SHARE * REST_SAMPLE_MS * 1_000 ? calm + 1 : 0;
  }
}
