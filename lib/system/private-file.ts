// Files with secrets, which only their owner can read.

import { open, rename, rm } from 'node:fs/promises';

const OWNER_ONLY = 0o600;

/** Writes the file whole or not at all, replacing the one that is there. @throws errors of the file system */
export async function writePrivate(path: string, text: string): Promise<void> {
  const unfinished = `${path}.tmp`;
  // A file that is left over may be readable by others.
  await rm(unfinished, { force: true });
  const file = await open(unfinished, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}
