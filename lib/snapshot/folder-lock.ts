import { FolderLock } from '../store/folder-lock';
import { SnapshotError } from './errors';

/** Runs `use`, which may delete the folder, while nobody else does. @throws SnapshotError with the sentence if somebody does */
export async function withFolderLock<T>(folder: string, sentence: string, use: () => Promise<T>): Promise<T> {
  const lock = new FolderLock(folder);
  if (!(await lock.take())) throw new SnapshotError(sentence);
  try {
    return await use();
  } finally {
    await lock.release();
  }
}
