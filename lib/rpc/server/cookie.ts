// The cookie file, as Bitcoin Core writes it: a password for anyone who can read the node's folder, new at each start.

import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../system/error-text';
import { writePrivate } from '../../system/private-file';
import type { ServerLogger } from '../../server/logger';

const USER = '__cookie__';
const PASSWORD_BYTES = 32;
/** Until writing it is tried again. */
const PAUSE_MS = 1_000;

export class CookieFile {
  readonly #path: string;
  readonly #logger: ServerLogger;
  /** `user:password`. Nobody knows it before the file is written. */
  readonly credentials = `${USER}:${randomBytes(PASSWORD_BYTES).toString('hex')}`;
  readonly #closing = new AbortController();
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, logger: ServerLogger) {
    this.#path = path;
    this.#logger = logger;
  }

  /** Writes the file, replacing one that a stopped process left behind. Does not wait for room on a disk that is full. */
  async open(): Promise<void> {
    try {
      await this.#write();
    } catch (error) {
      this.#logger.error(`The cookie file is not written yet, and is tried again: ${messageOf(error)}.`);
      this.#writing = this.#writeLater();
    }
  }

  /** Deletes the file, unless another process has written its own since. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    const found = await readFile(this.#path, 'utf8').catch(() => undefined);
    if (found === this.credentials) await rm(this.#path, { force: true });
  }

  #write(): Promise<void> {
    return writePrivate(this.#path, this.credentials);
  }

  /** Never rejects. */
  async #writeLater(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted)
      try {
        await setTimeout(PAUSE_MS, undefined, { signal });
        await this.#write();
        return;
      } catch {
        // It was said the first time.
      }
  }
}
