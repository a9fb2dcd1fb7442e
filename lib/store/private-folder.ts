// A folder whose files are their owner's alone. LevelDB makes its files readable by everybody,
// as far as the process's umask lets it, and that is not ours to change. So the folder keeps others out,
// and files lose what is too much soon after they were made: for whoever copies them elsewhere.

import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const GROUP_AND_OTHERS = 0o077;

export class PrivateFolder {
  readonly #path: string;
  /** Files that were looked at: LevelDB gives no name twice while it is open. */
  #seen = new Set<string>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes the folder when it is not there, and takes from others what they may do in it. @throws Error of the file system */
  async make(): Promise<void> {
    this.#seen = new Set();
    await mkdir(this.#path, { recursive: true, mode: 0o700 });
    await takeFromOthers(this.#path);
  }

  /** Never rejects: a folder that is gone has no files. */
  async tightenFiles(): Promise<void> {
    const entries = await readdir(this.#path, { withFileTypes: true }).catch(() => []);
    await Promise.all(entries.filter((entry) => entry.isFile() && !this.#seen.has(entry.name)).map(async ({ name }) => {
      this.#seen.add(name);
      await takeFromOthers(join(this.#path, name));
    }));
  }
}

/** What is another user's, or on a file system without modes, stays as it is. */
async function takeFromOthers(path: string): Promise<void> {
  try {
    const { mode } = await stat(path);
    if ((mode & GROUP_AND_OTHERS) !== 0) await chmod(path, mode & 0o700);
  } catch {
    // LevelDB may have deleted it by now.
  }
}
