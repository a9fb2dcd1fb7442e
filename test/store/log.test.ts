import { appendFile, cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { DiskStore } from '../../lib/store/disk-store';
import { StoreError } from '../../lib/store/errors';
import { levelChecksum } from '../../lib/store/leveldb-files/cursor';
import { logEntries } from '../../lib/store/leveldb-files/log';
import { caught } from '../support/caught';
import { flipBit } from '../support/flipped-bit';
import { newFolder } from '../support/folders';

const BLOCK = 32_768;
/** Of a record. */
const HEAD = 7;
/** Of the batch, of its only write with a key of one byte, and of the length of its value. */
const BATCH_HEAD = 12;
const WRITE_HEAD = 3 + 3;

describe('the files of LevelDB', () => {
  let folder: string;
  let store: DiskStore;

  beforeEach(async () => {
    folder = await newFolder();
    store = new DiskStore(folder);
  });

  it('may have a record in a log that begins with the last bytes of a block, where only its head has space', async () => {
    await store.open();
    for (const [key, length] of [
      ['a', BLOCK - 2 * HEAD - BATCH_HEAD - WRITE_HEAD],
      ['b', 100_000]
    ] as const)
      await store.batch([{ type: 'put', key: Buffer.from(key), value: Buffer.alloc(length, key) }], { durable: false });
    const name = (await readdir(folder)).find((file) => file.endsWith('.log')) ?? expect.fail('a log');
    const bytes = await readFile(join(folder, name));
    await store.close();
    expect(bytes.readUInt16LE(BLOCK - HEAD + 4), 'bytes of the record').to.equal(0);
    const { entries, soundLength } = logEntries(bytes, BATCH_HEAD);
    expect(entries.map((batch) => batch.readBigUInt64LE())).to.deep.equal([1n, 2n]);
    expect(soundLength).to.equal(bytes.length);
  });

  it('may have a manifest that ends with space that was never written', async () => {
    await store.open();
    await store.batch([{ type: 'put', key: Buffer.from('a'), value: Buffer.from('1') }], { durable: true });
    await store.close();
    const manifest = (await readdir(folder)).find((file) => file.startsWith('MANIFEST')) ?? expect.fail('a manifest');
    await appendFile(join(folder, manifest), Buffer.alloc(100));
    await store.open();
    expect(store.get(Buffer.from('a'))).to.deep.equal(Buffer.from('1'));
    await store.close();
  });

  it('have lost writes if a log is damaged before a write that takes several blocks', async () => {
    await store.open();
    for (const [key, length] of [
      ['a', BLOCK - HEAD - BATCH_HEAD - WRITE_HEAD],
      ['b', 100_000]
    ] as const)
      await store.batch([{ type: 'put', key: Buffer.from(key), value: Buffer.alloc(length, key) }], { durable: false });
    const copy = await newFolder();
    await cp(folder, copy, { recursive: true });
    await store.close();
    const name = (await readdir(copy)).find((file) => file.endsWith('.log')) ?? expect.fail('a log');
    await flipBit(join(copy, name), 8 * 1_000);
    const damaged = new DiskStore(copy);
    expect(await caught(damaged.open()))
      .to.be.instanceOf(StoreError)
      .with.property('message')
      .that.includes(`${name} is damaged at byte 0, and writes follow`);
    await damaged.close();
  });

  it('may have no log yet: the process was killed while it made them', async () => {
    // Comparator, number of the log, number of the next file, last sequence number (NewDB of db_impl.cc).
    const edit = Buffer.concat([Buffer.from([1, 26]), Buffer.from('leveldb.BytewiseComparator'), Buffer.from([2, 0, 3, 2, 4, 0])]);
    const record = Buffer.concat([Buffer.from([1]), edit]);
    const head = Buffer.alloc(6);
    head.writeUInt16LE(edit.length, head.writeUInt32LE(levelChecksum(record)));
    await writeFile(join(folder, 'MANIFEST-000001'), Buffer.concat([head, record]));
    await writeFile(join(folder, 'CURRENT'), 'MANIFEST-000001\n');
    await store.open();
    await store.batch([{ type: 'put', key: Buffer.from('a'), value: Buffer.from('1') }], { durable: false });
    await store.close();
    await store.open();
    expect(store.get(Buffer.from('a'))).to.deep.equal(Buffer.from('1'));
    await store.close();
  });
});
