// Programs of Debian that some tests need.

import { spawnSync } from 'node:child_process';
import type { Context } from 'mocha';

/** Whether a program is installed. Where nothing may be missing (CI=true), one that is missing is an error. */
export function isInstalled(program: string): boolean {
  const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
  if (error !== undefined && process.env['CI'] === 'true') throw new Error(`${program} is not installed`);
  return error === undefined;
}

/** Skips a test, or a group of tests, and says so, where a program is missing. In CI it fails. */
export function needsProgram(context: Context, program: string): void {
  if (isInstalled(program)) return;
  console.log(`      skipped: ${program} is not installed`);
  context.skip();
}
