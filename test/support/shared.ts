// Finds the folder of data that is shared between checkouts (real blocks, the
// replaying checker): $SHARED_DIR, or `../shared` beside the checkout.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const checkout = resolve(__dirname, '../..');

/** The shared folder, or undefined when this machine has none. */
export function sharedFolder(): string | undefined {
  const folder = process.env['SHARED_DIR'] ?? join(checkout, '../shared');
  return existsSync(folder) ? resolve(folder) : undefined;
}

/** A path inside the shared folder, or undefined when it is not there. */
export function sharedPath(...parts: string[]): string | undefined {
  const folder = sharedFolder();
  if (folder === undefined)
    return undefined;
  const path = join(folder, ...parts);
  return existsSync(path) ? path : undefined;
}

/** Why a test over shared data was skipped, for its title. */
export const sharedMissing = 'skipped: no such data in $SHARED_DIR or ../shared';
