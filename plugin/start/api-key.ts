// The key of bcoin's RPC and wallet. Without one bcoin asks nobody on this machine for it, and
// so any web page that is open in a browser here could stop the node or send coins.

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const KEY_BYTES = 32;

export interface ApiKey {
  readonly key: string;
  /** Where it is kept, readable by its owner alone. */
  readonly file: string;
  /** It was not there before. */
  readonly isNew: boolean;
}

/** The key that is kept in a node's folder; it is made when there is none. */
export async function apiKeyIn(folder: string): Promise<ApiKey> {
  const file = join(folder, 'api-key');
  const kept = await readKept(file);
  if (kept !== undefined) return { key: kept, file, isNew: false };
  const key = randomBytes(KEY_BYTES).toString('hex');
  await mkdir(folder, { recursive: true });
  // Under its name it is there as a whole.
  const unfinished = `${file}.new`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, `${key}\n`, { mode: 0o600, flag: 'wx' });
  await rename(unfinished, file);
  return { key, file, isNew: true };
}

async function readKept(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
