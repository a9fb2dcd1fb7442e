// How long the event loop is held by the work of the process.

/**
 * How late a timer is, but at most the processor time that the process has used meanwhile: a process that waits for a processor is not
 * held by its own work.
 */
export class LoopMeter {
  readonly #timer: NodeJS.Timeout;
  #heldMs = 0;
  #at = performance.now();
  #used = process.cpuUsage();

  /** `tickMs`: how often it looks. */
  constructor(tickMs: number) {
    this.#timer = setInterval(() => {
      const [now, { user, system }] = [performance.now(), process.cpuUsage(this.#used)];
      this.#heldMs = Math.max(this.#heldMs, Math.min(now - this.#at - tickMs, (user + system) / 1_000));
      this.#at = now;
      this.#used = process.cpuUsage();
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
