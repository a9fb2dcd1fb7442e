import { execFile } from 'node:child_process';
import { readdirSync, readlinkSync, truncateSync } from 'node:fs';
import { readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { DiskStore } from '../../lib/store/disk-store';
import { StoreError } from '../../lib/store/errors';
import { caught } from '../support/expectations/caught';
import { compiledProgram } from '../support/process/compiled';
import { flipBit } from '../support/index/flipped-bit';
import { newFolder } from '../support/process/folders';

/** Bytes of the value in each table. The first table is checked long before the others. */
const VALUES = [1, 2 ** 23, 2 ** 23, 2 ** 23];
const DESCRIPTORS = '/proc/self/fd';

describe('a store on disk, while it opens', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await newFolder();
    const store = new DiskStore(folder);
    for (const [table, length] of VALUES.entries()) {
      await store.open();
      await store.batch([{ type: 'put', key: Buffer.from([table]), value: Buffer.alloc(length) }], { durable: false });
      // Closing turns the log into a table.
      await store.close();
    }
  });

  const openFiles = (): string[] =>
    readdirSync(DESCRIPTORS)
      .map((name) => {
        try {
          return readlinkSync(join(DESCRIPTORS, name));
        } catch {
          return ''; // that of the folder itself
        }
      })
      .filter((path) => path.startsWith(folder));

  it('has no file open any more when it was closed meanwhile', async function () {
    if (process.platform !== 'linux') this.skip();
    const store = new DiskStore(folder);
    let parts = 0;
    const opening = store.open(() => {
      parts++;
      void store.close();
    });
    expect(await caught(opening))
      .to.be.instanceOf(StoreError)
      .with.property('reason', 'closed');
    expect(openFiles()).to.deep.equal([]);
    expect(parts, 'parts that were read').to.equal(1);
  });

  it('is either closed by a call at any moment, or was open before', async () => {
    const small = await newFolder();
    for (let turns = 0; turns < 100; turns++) {
      const store = new DiskStore(small);
      const seen = { isOpen: false };
      const opening = caught(store.open().then(() => (seen.isOpen = true)));
      for (let turn = 0; turn < turns && !seen.isOpen; turn++) await setImmediate();
      const wasOpen = seen.isOpen;
      await store.close();
      if (!wasOpen)
        expect(await opening, `closed after ${turns} turns`)
          .to.be.instanceOf(StoreError)
          .with.property('reason', 'closed');
      expect(() => store.pages.count(), `closed after ${turns} turns`)
        .to.throw(StoreError)
        .with.property('reason', 'closed');
    }
  });

  it('is damaged if a table becomes shorter while it is read', async () => {
    const many = await newFolder();
    const store = new DiskStore(many);
    await store.open();
    const writes = Array.from({ length: 200 }, (_, n) => ({ type: 'put', key: Buffer.from([n]), value: Buffer.alloc(20_000) }) as const);
    await store.batch(writes, { durable: false });
    await store.close();
    const [table = ''] = (await readdir(many)).filter((name) => name.endsWith('.ldb'));
    // After its first megabyte was read.
    const opening = store.open(() => truncateSync(join(many, table), 2 ** 20));
    const error = await caught(opening);
    expect(error).to.be.instanceOf(StoreError).with.property('reason', 'corrupt');
    expect(error)
      .to.have.property('message')
      .that.match(new RegExp(`${table}: expected \\d+ bytes at byte \\d+, got `));
    await store.close();
  });

  it('does not skip the check of a table that the system does not open', async function () {
    if (process.platform === 'win32') this.skip();
    const table = join(folder, (await readdir(folder)).find((name) => name.endsWith('.ldb')) ?? expect.fail('a table'));
    await rm(table);
    await symlink(table, table);
    expect(await caught(new DiskStore(folder).open()))
      .to.be.instanceOf(StoreError)
      .with.property('message')
      .that.match(/^cannot open the store in .*: ELOOP: /);
  });

  it('does not skip the check of its files when the process has no descriptor left for it', async function () {
    if (process.platform === 'win32') this.skip();
    const [table = ''] = (await readdir(folder)).filter((name) => name.endsWith('.ldb'));
    await flipBit(join(folder, table), 100);
    const program = [process.execPath, compiledProgram('scarce-descriptors'), folder];
    const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 256; exec "$@"', 'sh', ...program]);
    expect(stdout.trim()).to.match(/^failed: cannot open the store in .*: EMFILE: /);
  });
});
