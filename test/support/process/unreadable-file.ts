// A file that the disk can neither read nor write, as where it has a bad sector.

import { rm, symlink } from 'node:fs/promises';

/** The system answers EIO: nothing is mapped at the beginning of a process's memory. Only on Linux. */
export async function replaceByUnreadable(path: string): Promise<void> {
  await rm(path);
  await symlink('/proc/self/mem', path);
}
