// Programs of Debian that some tests need.

import { spawnSync } from 'node:child_process';

/** Whether a program is installed. Where nothing may be missing (CI=true), one that is missing is an error. */
export function isInstalled(program: string): boolean {
  const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
  if (error !== undefined && process.env['CI'] === 'true') throw new Error(`${program} is not installed`);
  return error === undefined;
}
