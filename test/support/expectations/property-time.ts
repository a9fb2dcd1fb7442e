// A property that has found a failure looks for a smaller one, which may take longer than the test has: it stops in time, to say what it has
// found. One whose cases are not all tried by then has failed, too.

import { configureGlobal, interruptAfterTimeLimit } from 'fast-check';
import type { Context } from 'mocha';

/** Milliseconds that a test needs beside its property. */
const BESIDE_MS = 5_000;

export const mochaHooks = {
  beforeEach(this: Context): void {
    const timeout = this.currentTest?.timeout() ?? 0;
    configureGlobal(timeout === 0 ? {} : { plugins: [interruptAfterTimeLimit(timeout - BESIDE_MS, { failOnInterrupt: true })] });
  }
};
