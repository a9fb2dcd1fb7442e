import { readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { FolderLock, LOCK_NAME } from '../../lib/store/folder-lock';
import { newFolder } from '../support/process/folders';

describe('the lock of a folder', () => {
  let folder: string;
  let lock: FolderLock;

  beforeEach(async () => {
    folder = await newFolder();
    lock = new FolderLock(folder);
    expect(await lock.take()).to.equal(true);
  });

  afterEach(() => lock.release());

  it('is had by one at a time, and is free once it was released', async () => {
    const other = new FolderLock(folder);
    expect(await other.take()).to.equal(false);
    await other.release();
    expect(await other.take(), 'released by one who did not have it').to.equal(false);
    await lock.release();
    expect(await other.take()).to.equal(true);
    await other.release();
  });

  const DAMAGES: readonly (readonly [string, (file: string) => Promise<void>])[] = [
    ['are empty', (file) => truncate(file)],
    ['have other bytes', (file) => writeFile(file, 'x'.repeat(100))],
    ['are missing', (file) => rm(file)]
  ];
  for (const [state, damage] of DAMAGES)
    it(`is taken whichever of its files ${state}, and is a lock then`, async () => {
      const files = async (): Promise<string[]> => (await readdir(join(folder, LOCK_NAME))).sort();
      for (let at = 0; ; at++) {
        await lock.release();
        const name = (await files())[at];
        if (name === undefined) break;
        await damage(join(folder, LOCK_NAME, name));
        expect(await lock.take(), name).to.equal(true);
        expect(await new FolderLock(folder).take(), name).to.equal(false);
      }
    });
});
