// A property that has found a failure looks for a smaller one, which may take longer than the test has: it stops in time, to say what it has
// found. One whose cases are not all tried by then has failed, too.

import { installGlobalPlugin, interruptAfterTimeLimit } from 'fast-check';
import type { Context } from 'mocha';

/** Milliseconds that a test needs beside its property. */
const BESIDE_MS = 5_000;
/** Timers have no more. */
const UNLIMITED_MS = 0x7fff_ffff;

let limitMs = UNLIMITED_MS;

installGlobalPlugin((...place) => interruptAfterTimeLimit(limitMs, { failOnInterrupt: true })(...place));

export const mochaHooks = {
  beforeEach(this: Context): void {
    const timeout = this.currentTest?.timeout() ?? 0;
    limitMs = timeout === 0 ? UNLIMITED_MS : timeout - BESIDE_MS;
  }
};
