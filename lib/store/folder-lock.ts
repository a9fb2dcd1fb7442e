// Keeps two processes from working on one folder. LevelDB's lock is used, which ends with its process, however that ends.

import { join } from 'node:path';
import { DiskStore } from './disk-store';
import { StoreError, type StoreFailure } from './errors';

/** Of what the lock leaves in the folder. */
export const LOCK_NAME = 'lock';

export class FolderLock {
  readonly #store: DiskStore;

  constructor(folder: string) {
    this.#store = new DiskStore(join(folder, LOCK_NAME));
  }

  /** False: another process has it, or another one in this process. @throws StoreError when nothing can be written there */
  async take(): Promise<boolean> {
    try {
      await this.#store.open();
    } catch (error) {
      if (isFor(error, 'locked')) return false;
      if (!isFor(error, 'corrupt')) throw error;
      // By a loss of power, for example. There is nothing in it.
      await this.#store.clear();
    }
    return true;
  }

  /** Never rejects. */
  async release(): Promise<void> {
    await this.#store.close().catch(() => undefined);
  }
}

const isFor = (error: unknown, reason: StoreFailure): boolean => error instanceof StoreError && error.reason === reason;
