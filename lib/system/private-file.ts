// Files with secrets, which only their owner can read.

import { open, rename, rm } from 'node:fs/promises';
import { namingFile } from './system-errors';

const OWNER_ONLY = 0o600;

/** Writes the file whole or not at all, replacing the one that is there. @throws errors of the file system, naming the file */
export async function writePrivate(path: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${path}.tmp`;
  // A file that is left over may be readable by others.
  await rm(unfinished, { force: true });
  try {
    await namingFile(unfinished, () => writeNew(unfinished, content));
    await rename(unfinished, path);
  } catch (error) {
    // The disk may be full.
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
