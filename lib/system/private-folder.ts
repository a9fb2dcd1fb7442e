// A folder whose files only their owner can read. LevelDB makes its files readable by everybody, as far as the umask of
// the process allows, and a plugin must not change the umask. So other users may not enter the folder, and files lose the
// permissions of other users soon after they were made, since they may be copied elsewhere.

import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const GROUP_AND_OTHERS = 0o077;

export class PrivateFolder {
  readonly #path: string;
  /** Names of files that are there and whose permissions are done. LevelDB uses no name twice while it is open, and makes files for years. */
  #done = new Set<string>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Creates the folder if it is missing, and removes the permissions of other users. @throws errors of the file system */
  async make(): Promise<void> {
    this.#done = new Set();
    await mkdir(this.#path, { recursive: true, mode: 0o700 });
    await takeFromOthers(this.#path);
  }

  /** Removes the permissions of other users from new files. Never rejects: a folder that is gone has no files. */
  async tightenFiles(): Promise<void> {
    const entries = await readdir(this.#path, { withFileTypes: true }).catch(() => []);
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    const fresh = names.filter((name) => !this.#done.has(name));
    this.#done = new Set(names);
    await Promise.all(fresh.map((name) => takeFromOthers(join(this.#path, name))));
  }
}

/** chmod fails for files of another user and on file systems without modes; those files stay as they are. */
async function takeFromOthers(path: string): Promise<void> {
  try {
    const { mode } = await stat(path);
    if ((mode & GROUP_AND_OTHERS) !== 0) await chmod(path, mode & 0o700);
  } catch {
    // LevelDB may have deleted the file by now.
  }
}
