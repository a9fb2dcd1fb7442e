// How long the event loop is held by the work of the process.

import { existsSync, readFileSync } from 'node:fs';

/** The processor time of the main thread, on Linux; elsewhere that of the process. */
const SCHEDULER = '/proc/self/schedstat';

/**
 * How late a timer is, but at most the processor time that the main thread has used meanwhile: a process that waits for a processor is not
 * held by its own work, nor by the work of other threads.
 */
export class LoopMeter {
  readonly #timer: NodeJS.Timeout;
  #heldMs = 0;
  #at = performance.now();
  #used = usedMs();

  /** `tickMs`: how often it looks. */
  constructor(tickMs: number) {
    this.#timer = setInterval(() => {
      const [now, used] = [performance.now(), usedMs()];
      this.#heldMs = Math.max(this.#heldMs, Math.min(now - this.#at - tickMs, used - this.#used));
      this.#at = now;
      this.#used = used;
    }, tickMs).unref();
  }

  /** The longest time since the last call, in ms. */
  take(): number {
    const held = this.#heldMs;
    this.#heldMs = 0;
    return held;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

const hasScheduler = existsSync(SCHEDULER);

function usedMs(): number {
  if (hasScheduler) return Number(readFileSync(SCHEDULER, 'latin1').split(' ', 1)[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
