// Keeps two processes from working on one folder. LevelDB's lock is used, which ends with its process, however that ends.

import { join } from 'node:path';
import { DiskStore } from '../store/disk-store';
import { StoreError } from '../store/errors';
import { SnapshotError } from './errors';

/** Of what the lock leaves in the folder. */
export const LOCK_NAME = 'lock';

/** Runs `use`, which may delete the folder, while nobody else does. @throws SnapshotError with the sentence if somebody does */
export async function withFolderLock<T>(folder: string, sentence: string, use: () => Promise<T>): Promise<T> {
  const lock = new DiskStore(join(folder, LOCK_NAME));
  try {
    await lock.open();
  } catch (error) {
    throw error instanceof StoreError && error.reason === 'locked' ? new SnapshotError(sentence, { cause: error }) : error;
  }
  try {
    return await use();
  } finally {
    await lock.close().catch(() => undefined);
  }
}
