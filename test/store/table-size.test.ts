import { randomBytes } from 'node:crypto';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { suitedTableBytes } from '../../lib/store/disk-store';
import { newFolder } from '../support/process/folders';
import { MergingStore } from '../support/index/merging-store';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

describe('the size of tables', () => {
  it('is as small as LevelDB makes them, until there are many', () => {
    expect([0, 1, GIB, 600 * 2 * MIB].map(suitedTableBytes)).to.deep.equal([2, 2, 2, 2].map((size) => size * MIB));
  });

  it('keeps their number at 300 to 600 in a store of any size, up to the largest tables of LevelDB', () => {
    for (let store = 1.2 * GIB; store <= 500 * GIB; store *= 1.1)
      expect(store / suitedTableBytes(store), `${store} bytes`).to.be.within(300, 600);
    expect(suitedTableBytes(39e9) / MIB).to.equal(64);
    expect(suitedTableBytes(1e15)).to.equal(GIB);
  });
});

describe('a store that grows', () => {
  let folder: string;
  let store: MergingStore;

  beforeEach(async () => {
    folder = await newFolder();
    store = new MergingStore(folder);
    await store.open();
  });

  afterEach(() => store.close());

  /** A table that holds nothing and takes no space, and that LevelDB deletes when it opens the store. */
  async function pretend(bytes: number): Promise<void> {
    const file = await open(join(folder, '999999.ldb'), 'w');
    await file.truncate(bytes);
    await file.close();
  }

  /** The largest table after megabytes were written and merged. */
  async function largestTable(): Promise<number> {
    for (let batch = 0; batch < 2; batch++) {
      await store.batch(
        Array.from({ length: 1_000 }, () => ({ type: 'put', key: randomBytes(16), value: randomBytes(10_000) })),
        { durable: false }
      );
      await store.merge(Buffer.alloc(1), Buffer.alloc(17, 0xff));
    }
    const names = (await readdir(folder)).filter((name) => name.endsWith('.ldb'));
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    return Math.max(...sizes);
  }

  it('is reopened for larger tables, even if it is prepared for the use that it already has', async () => {
    expect(await largestTable()).to.be.below(2.1 * MIB);
    await pretend(3 * GIB);
    await store.prepareFor('following');
    expect(await largestTable()).to.be.within(7 * MIB, 8.1 * MIB);
  });

  it('has larger tables from the start if it is already large, and stays open when nothing changes', async () => {
    await store.close();
    await pretend(3 * GIB);
    await store.open();
    const snapshot = store.snapshot();
    await store.prepareFor('following');
    expect(snapshot.get(Buffer.from('a'))).to.equal(undefined);
    snapshot.close();
    expect(await largestTable()).to.be.within(7 * MIB, 8.1 * MIB);
  });
});
