// The storage of a merchant's records: named files, each written whole or not at all. The only implementation is a folder.

import { access, chmod, constants, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writePrivate } from '../../system/private-file';
import { syncToDisk } from '../../system/sync-to-disk';

/** Of records, certificates, the secret of webhooks, and the lock, which is a folder. */
const ENDINGS: readonly string[] = ['.json', '.watched', '.tmp', '.pem', '-secret', 'lock'];

/** The folder has other files as well, and others may enter it: it was named by mistake. */
export class SharedFolderError extends Error {
  override readonly name = 'SharedFolderError';
}

export interface PaymentStorage {
  read(name: string): Promise<Buffer | undefined>;
  /** When it resolves the bytes are on the disk itself; after a crash there are either the old bytes or the new. */
  write(name: string, bytes: Buffer): Promise<void>;
  /** It is no error if there is none of that name. After a crash the file may be there again. */
  remove(name: string): Promise<void>;
  /** The names of all files, in no order. */
  names(): Promise<string[]>;
}

export class FolderStorage implements PaymentStorage {
  readonly #folder: string;

  /** Only called by `open`, which has prepared the folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Makes the folder when it is missing. The folder and its files become accessible to their owner alone.
   * @throws SharedFolderError, and Error of the file system when it cannot be made, read, or written to
   */
  static async open(folder: string): Promise<FolderStorage> {
    await makeFolder(folder);
    await takeFromOthers(folder);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return new FolderStorage(folder);
  }

  async read(name: string): Promise<Buffer | undefined> {
    try {
      return await readFile(join(this.#folder, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async write(name: string, bytes: Buffer): Promise<void> {
    await writePrivate(join(this.#folder, name), bytes);
    // The rename itself has to reach the disk.
    await syncToDisk(this.#folder);
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name), { force: true });
  }

  async names(): Promise<string[]> {
    return readdir(this.#folder);
  }
}

/** With its parents. Where the system makes no folders, as in /proc, `mkdir` of Node.js with `recursive` never ends. */
async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) await makeFolder(parent);
  await mkdir(folder, { mode: 0o700 }).catch(async (error: unknown) => {
    // Another one may have made it meanwhile.
    if (!(await isFolder(folder))) throw error;
  });
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false
  );
}

/** The files are changed first: once the folder's own mode is right, its files are not checked again. */
async function takeFromOthers(folder: string): Promise<void> {
  const { mode } = await stat(folder);
  if ((mode & 0o077) === 0) return;
  const entries = await readdir(folder, { withFileTypes: true });
  const foreign = entries.find(({ name }) => !ENDINGS.some((ending) => name.endsWith(ending)));
  if (foreign !== undefined)
    throw new SharedFolderError(`others may enter ${folder}, and it has what is not the merchant's: ${foreign.name}`);
  for (const entry of entries) if (!entry.isDirectory()) await chmod(join(folder, entry.name), 0o600);
  await chmod(folder, mode & 0o700);
}
