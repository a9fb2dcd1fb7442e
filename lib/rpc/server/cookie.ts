// The cookie file, as Bitcoin Core writes it: a password for anyone who can read the node's folder, new at each start.

import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { writePrivate } from '../../system/private-file';

const USER = '__cookie__';
const PASSWORD_BYTES = 32;

export class CookieFile {
  readonly #path: string;
  #credentials: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Writes the file, replacing one that a stopped process left behind; gives `user:password`. @throws an error of the system */
  async create(): Promise<string> {
    const credentials = `${USER}:${randomBytes(PASSWORD_BYTES).toString('hex')}`;
    await writePrivate(this.#path, credentials);
    this.#credentials = credentials;
    return credentials;
  }

  /** Deletes the file, unless another process has written its own since. */
  async remove(): Promise<void> {
    const found = await readFile(this.#path, 'utf8').catch(() => undefined);
    if (found !== undefined && found === this.#credentials) await rm(this.#path, { force: true });
    this.#credentials = undefined;
  }
}
