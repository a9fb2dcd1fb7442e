import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { DiskStore } from '../../lib/store/disk-store';
import { PrivateFolder } from '../../lib/system/private-folder';
import { newFolder } from '../support/process/folders';
import type { Store, StoreWrite } from '../../lib/store/store';

const OWNER_ALONE = 0o600;

describe('the files of a store on disk', () => {
  let parent: string;
  let folder: string;
  let store: Store;

  beforeEach(async () => {
    parent = await newFolder();
    folder = join(parent, 'rest/index');
    store = new DiskStore(folder);
  });
  afterEach(() => store.close());

  async function expectPrivate(least: number): Promise<void> {
    expect((await stat(folder)).mode & 0o777).to.equal(0o700);
    const names = await readdir(folder);
    const modes = await Promise.all(names.map(async (name) => `${name} ${((await stat(join(folder, name))).mode & 0o777).toString(8)}`));
    expect(modes).to.deep.equal(names.map((name) => `${name} ${OWNER_ALONE.toString(8)}`));
    expect(names.length).to.be.least(least);
  }

  const put = (key: string, length: number): StoreWrite => ({ type: 'put', key: Buffer.from(key), value: Buffer.alloc(length, key) });

  it('can only be read by their owner, including files that come and go while the store is open', async () => {
    await store.open();
    // CURRENT, LOCK, LOG, a log and a manifest.
    await expectPrivate(5);
    await store.batch([put('a', 1)], { durable: true });
    await store.prepareFor('catching-up');
    await expectPrivate(6);
    // More new records than a buffer holds: LevelDB writes them to tables.
    for (let i = 0; i < 48; i++) await store.batch([put(`b${i}`, 1 << 20)], { durable: i === 47 });
    await store.close();
    await expectPrivate(8);
    await store.open();
    await store.clear();
    await expectPrivate(5);
    await store.close();
    await expectPrivate(5);
  });

  it('can only be read by their owner, even if others could read them before', async () => {
    await store.open();
    await store.batch([put('a', 1)], { durable: true });
    await store.close();
    await chmod(folder, 0o755);
    for (const name of await readdir(folder)) await chmod(join(folder, name), 0o644);
    store = new DiskStore(folder);
    await store.open();
    await expectPrivate(5);
  });

  it('can only be read by their owner in a folder that the store has created', async () => {
    await mkdir(folder, { recursive: true, mode: 0o755 });
    await store.open();
    await expectPrivate(5);
  });

  it('are forgotten once they are deleted', async () => {
    const files = new PrivateFolder(folder);
    await files.make();
    for (let i = 0; i < 2; i++) {
      await writeFile(join(folder, '000005.ldb'), '', { mode: 0o644 });
      await files.tightenFiles();
      await expectPrivate(1);
      await rm(join(folder, '000005.ldb'));
      await files.tightenFiles();
    }
  });

  it('leave the modes of a read-only folder as they are', async () => {
    await store.open();
    await store.close();
    await chmod(folder, 0o500);
    store = new DiskStore(folder);
    await store.open().catch(() => undefined);
    expect((await stat(folder)).mode & 0o777).to.equal(0o500);
    await store.close();
    await chmod(folder, 0o700);
  });
});
