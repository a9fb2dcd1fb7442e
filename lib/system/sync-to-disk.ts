// Has the system write to the disk what it still keeps in memory.

import { open } from 'node:fs/promises';

/** `path`: a file; or a folder, whose files then have their names also after a crash. @throws errors of the file system */
export async function syncToDisk(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
