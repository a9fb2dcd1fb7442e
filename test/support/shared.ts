// Finds the folder of data that is shared between checkouts (real blocks, the
// replaying checker): $SHARED_DIR, or `../shared` beside the checkout.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { projectFolder } from './project-folder';

/** The shared folder, or undefined when this machine has none. */
export function sharedFolder(): string | undefined {
  const folder = process.env['SHARED_DIR'] ?? join(projectFolder, '../shared');
  return existsSync(folder) ? resolve(folder) : undefined;
}
