// Finds the folder of data that is shared between checkouts (real blocks, recorded answers, the replaying checker): $SHARED_DIR, or
// `../shared` beside the checkout.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { projectFolder } from '../process/project-folder';
import type { Context } from 'mocha';

/** The shared folder, or undefined when this machine has none. */
export function sharedFolder(): string | undefined {
  const folder = process.env['SHARED_DIR'] ?? join(projectFolder, '../shared');
  return existsSync(folder) ? resolve(folder) : undefined;
}

/** The shared folder. Skips a test, or a group of tests, and says so, on a machine that has none. */
export function needsShared(context: Context): string {
  const folder = sharedFolder();
  if (folder !== undefined) return folder;
  console.log('      skipped: there is no shared folder (SHARED_DIR)');
  return context.skip();
}
