import { appendFile, cp, readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { DiskStore } from '../../lib/store/disk-store';
import { StoreError } from '../../lib/store/errors';
import { levelChecksum } from '../../lib/store/leveldb-files/cursor';
import { logEntries } from '../../lib/store/leveldb-files/log';
import { caught } from '../support/expectations/caught';
import { flipBit } from '../support/index/flipped-bit';
import { newFolder } from '../support/process/folders';
import type { StorePut } from '../../lib/store/store';

const BLOCK = 32_768;
/** Of a record. */
const HEAD = 7;
/** Of the batch, of its only write with a key of one byte, and of the length of its value. */
const BATCH_HEAD = 12;
const WRITE_HEAD = 3 + 3;

/** A whole entry of a log in one record. */
function record(data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from([1]), data]);
  const head = Buffer.alloc(6);
  head.writeUInt16LE(data.length, head.writeUInt32LE(levelChecksum(typed)));
  return Buffer.concat([head, typed]);
}

/** A batch as a log has it: it writes the key once. */
function batch(sequence: number, key: string): Buffer {
  const head = Buffer.alloc(BATCH_HEAD);
  head.writeUInt32LE(1, head.writeBigUInt64LE(BigInt(sequence)));
  return record(Buffer.concat([head, Buffer.from([1, key.length]), Buffer.from(key), Buffer.from([1]), Buffer.from('x')]));
}

const put = (key: string, length: number): StorePut => ({ type: 'put', key: Buffer.from(key), value: Buffer.alloc(length, key) });

describe('the files of LevelDB', () => {
  let folder: string;
  let store: DiskStore;

  beforeEach(async () => {
    folder = await newFolder();
    store = new DiskStore(folder);
  });

  const fileIn = async (where: string, pattern: RegExp): Promise<string> =>
    (await readdir(where)).find((file) => pattern.test(file)) ?? expect.fail(`a file like ${pattern}`);

  /** A folder as a process leaves it that is killed after these writes, each in a batch of its own. */
  async function leftAfter(writes: readonly StorePut[]): Promise<string> {
    await store.open();
    for (const write of writes) await store.batch([write], { durable: false });
    const copy = await newFolder();
    await cp(folder, copy, { recursive: true });
    await store.close();
    return copy;
  }

  /** Expects that the store in a folder is said to be damaged, and that clearing repairs it. */
  async function expectDamage(where: string, message: string): Promise<void> {
    const damaged = new DiskStore(where);
    const error = await caught(damaged.open());
    expect(error).to.be.instanceOf(StoreError).with.property('reason', 'corrupt');
    expect(error).to.have.property('message').that.includes(message);
    await damaged.clear();
    expect(damaged.get(Buffer.from('a'))).to.equal(undefined);
    await damaged.close();
  }

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

  const edit = record(Buffer.from([2, 99])); // the number of a log
  for (const [what, bytes] of Object.entries({
    'space that was never written': Buffer.alloc(100),
    'the beginning of an edit': edit.subarray(0, -1),
    'the beginning of the head of an edit': edit.subarray(0, 3)
  }))
    it(`may have a manifest that ends with ${what}: what it says before holds`, async () => {
      const left = await leftAfter([put('a', 1)]);
      await appendFile(join(left, await fileIn(left, /^MANIFEST/)), bytes);
      const opened = new DiskStore(left);
      await opened.open();
      expect(opened.get(Buffer.from('a'))).to.deep.equal(Buffer.from('a'));
      await opened.close();
    });

  it('are damaged if the manifest ends with an edit that is whole, but not as it was written', async () => {
    const left = await leftAfter([put('a', 1)]);
    const name = await fileIn(left, /^MANIFEST/);
    const { size } = await stat(join(left, name));
    // Its checksum is wrong; as space that was never written it begins with 0.
    await appendFile(join(left, name), Buffer.concat([Buffer.alloc(4), edit.subarray(4)]));
    await expectDamage(left, `${name}: damaged at byte ${size}`);
  });

  for (const [where, lengths] of Object.entries({
    'at the beginning of a block': [BLOCK - HEAD - BATCH_HEAD - WRITE_HEAD, 100_000],
    'with the last bytes of a block': [2 * BLOCK - 3 * HEAD - BATCH_HEAD - WRITE_HEAD, 100]
  }))
    it(`have lost writes if a log is damaged before its last write, which begins ${where}`, async () => {
      const left = await leftAfter(lengths.map((length, i) => put('ab'.charAt(i), length)));
      const name = await fileIn(left, /\.log$/);
      await flipBit(join(left, name), 8 * 1_000);
      await expectDamage(left, `${name} is damaged at byte 0, and writes follow`);
    });

  it('have lost writes if blocks of a log are in each other’s places', async () => {
    const left = await leftAfter(Array.from('abcdefgh', (key) => put(key, BLOCK / 2)));
    const name = await fileIn(left, /\.log$/);
    const bytes = await readFile(join(left, name));
    const blocks = [0, 2, 1, 3].map((block) => bytes.subarray(block * BLOCK, (block + 1) * BLOCK));
    await writeFile(join(left, name), Buffer.concat(blocks));
    await expectDamage(left, `${name} is damaged: it has write `);
  });

  for (const [what, pattern, most] of [
    ['log', /\.log$/, 2 ** 30],
    ['manifest', /^MANIFEST/, 2 ** 30],
    ['CURRENT', /^CURRENT$/, 100]
  ] as const)
    it(`are damaged if the ${what} is larger than LevelDB makes it: it is not read into memory`, async () => {
      const left = await leftAfter([put('a', 1)]);
      const name = await fileIn(left, pattern);
      // Its end is a hole, which takes no space.
      await truncate(join(left, name), 3 * 2 ** 30);
      await expectDamage(left, `${name}: expected at most ${most} bytes, got ${3 * 2 ** 30}`);
    });

  it('are damaged if CURRENT names a manifest that is not there', async () => {
    const left = await leftAfter([put('a', 1)]);
    await writeFile(join(left, 'CURRENT'), 'MANIFEST-999999\n');
    await expectDamage(left, 'MANIFEST-999999 is missing, and CURRENT names it');
  });

  it('are damaged if a table has the name of another one, even if it is as long', async () => {
    for (const key of ['a', 'b']) await leftAfter([put(key, 10)]);
    const [one = '', other = ''] = (await readdir(folder)).filter((file) => file.endsWith('.ldb'));
    expect((await stat(join(folder, one))).size).to.equal((await stat(join(folder, other))).size);
    await store.open();
    for (const [from, to] of [
      [one, 'kept'],
      [other, one],
      ['kept', other]
    ] as const)
      await rename(join(folder, from), join(folder, to));
    const scrubbed = (async () => {
      for await (const { count } of store.scrub()) expect(count).to.be.above(0);
    })();
    expect(await caught(scrubbed))
      .to.be.instanceOf(StoreError)
      .with.property('message')
      .that.includes(`${one}: expected a table that begins with `);
    await store.close();
    await expectDamage(folder, '.ldb: expected a table that begins with ');
  });

  /** Files as LevelDB makes them at first (NewDB of db_impl.cc), without tables. `logNumber`: of the log that its writes begin with. */
  async function makeFiles(logNumber: number, logs: Readonly<Record<string, Buffer>> = {}): Promise<void> {
    // Comparator, number of the log, number of the next file, last sequence number.
    const edit = Buffer.concat([Buffer.from([1, 26]), Buffer.from('leveldb.BytewiseComparator'), Buffer.from([2, logNumber, 3, 9, 4, 0])]);
    await writeFile(join(folder, 'MANIFEST-000001'), record(edit));
    await writeFile(join(folder, 'CURRENT'), 'MANIFEST-000001\n');
    for (const [name, bytes] of Object.entries(logs)) await writeFile(join(folder, name), bytes);
  }

  async function expectKeys(keys: string): Promise<void> {
    await store.open();
    for (const key of keys) expect(store.get(Buffer.from(key)), key).to.deep.equal(Buffer.from('x'));
    await store.close();
  }

  it('may leave out numbers of writes, which failed then', async () => {
    await makeFiles(2, { '000002.log': batch(1, 'a'), '000003.log': Buffer.concat([batch(2, 'b'), batch(5, 'c')]) });
    await expectKeys('abc');
  });

  it('may still have a log whose writes are in tables, whatever it has', async () => {
    await makeFiles(3, { '000002.log': Buffer.concat([batch(8, 'a'), Buffer.alloc(100, 7)]), '000003.log': batch(1, 'b') });
    await expectKeys('b');
  });

  it('have lost writes if one log ends before the next one begins', async () => {
    await makeFiles(2, { '000002.log': batch(1, 'a'), '000003.log': batch(3, 'c') });
    await expectDamage(folder, '000002.log is damaged: it ends before write 3, with which 000003.log continues');
  });

  it('may have no log yet: the process was killed while it made them', async () => {
    await makeFiles(0);
    await store.open();
    await store.batch([{ type: 'put', key: Buffer.from('a'), value: Buffer.from('1') }], { durable: false });
    await store.close();
    await store.open();
    expect(store.get(Buffer.from('a'))).to.deep.equal(Buffer.from('1'));
    await store.close();
  });
});
