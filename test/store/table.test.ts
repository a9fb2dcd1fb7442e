import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { DiskStore } from '../../lib/store/disk-store';
import { levelChecksum, LevelFormatError, LevelReader } from '../../lib/store/leveldb-files/cursor';
import { checkTable } from '../../lib/store/leveldb-files/table';
import { writeInteger } from '../../lib/index/records/numbers';
import { caught } from '../support/expectations/caught';
import { flipped } from '../support/index/flipped-bit';
import { newFolder } from '../support/process/folders';

const FOOTER = 48;
const MAGIC = 8;
/** Type and checksum, after each block. */
const TRAILER = 5;
/** Behind each key: sequence number of its write, and kind. */
const KEY_TRAILER = 8;

interface Handle {
  readonly offset: number;
  readonly length: number;
}

describe('a table of LevelDB', () => {
  let path: string;
  let table: Buffer;
  let smallest: Buffer;
  /** Of the blocks of handles. */
  let metaindex: Handle;
  let index: Handle;

  beforeEach(async () => {
    const folder = await newFolder();
    const store = new DiskStore(folder);
    await store.open();
    const writes = Array.from({ length: 5 }, (_, n) => ({ type: 'put', key: Buffer.of(n), value: Buffer.alloc(20_000) }) as const);
    await store.batch(writes, { durable: false });
    // Closing turns the log into a table.
    await store.close();
    path = join(folder, (await readdir(folder)).find((name) => name.endsWith('.ldb')) ?? expect.fail('a table'));
    table = await readFile(path);
    const first = new LevelReader(table);
    first.skip(1);
    const keyLength = first.integer();
    first.integer();
    smallest = first.take(keyLength);
    expect(smallest).to.have.length(1 + KEY_TRAILER);
    const footer = new LevelReader(table.subarray(-FOOTER));
    const [a, b, c, d] = [footer.integer(), footer.integer(), footer.integer(), footer.integer()];
    [metaindex, index] = [
      { offset: a, length: b },
      { offset: c, length: d }
    ];
  });

  /** Bytes of the parts that were checked. */
  async function checked(bytes: Buffer, length = bytes.length): Promise<number> {
    await writeFile(path, bytes);
    let sum = 0;
    for await (const count of checkTable(path, { length, smallest })) sum += count;
    return sum;
  }

  async function expectDamage(bytes: Buffer, message: string, length?: number): Promise<void> {
    expect(await caught(checked(bytes, length)))
      .to.be.instanceOf(LevelFormatError)
      .with.property('message')
      .that.includes(message);
  }

  function footerOf(...handles: readonly Handle[]): Buffer {
    const footer = Buffer.alloc(FOOTER);
    let end = 0;
    for (const { offset, length } of handles) end = writeInteger(footer, writeInteger(footer, end, offset), length);
    table.copy(footer, FOOTER - MAGIC, table.length - MAGIC);
    return footer;
  }
  const withFooter = (...handles: readonly Handle[]): Buffer => Buffer.concat([table.subarray(0, -FOOTER), footerOf(...handles)]);
  it('is sound as LevelDB wrote it: all of it is read, but for the footer', async () => {
    expect(await checked(table)).to.equal(table.length - FOOTER);
    expect(withFooter(metaindex, index).equals(table)).to.equal(true);
  });

  it('is damaged if it is shorter or longer than the manifest says', async () => {
    const { length } = table;
    await expectDamage(table.subarray(0, -1), `expected ${length} bytes, got ${length - 1}`, length);
    await expectDamage(Buffer.concat([table, Buffer.alloc(1)]), `expected ${length} bytes, got ${length + 1}`, length);
    await expectDamage(table.subarray(0, FOOTER - 1), 'its footer is damaged');
  });

  it('is damaged if its footer is: its end, or where it says that blocks are', async () => {
    await expectDamage(flipped(table, 8 * table.length - 1), 'its footer is damaged');
    await expectDamage(withFooter(metaindex, { offset: 0, length: 2 ** 50 }), 'its footer is damaged');
    await expectDamage(withFooter({ offset: 2 ** 50, length: 1 }, index), 'its footer is damaged');
    await expectDamage(withFooter(index, metaindex), 'expected a block at byte 0, got one at ');
  });

  it('is damaged if it has bytes that belong to no block', async () => {
    const between = Buffer.concat([table.subarray(0, -FOOTER), Buffer.alloc(7), table.subarray(-FOOTER)]);
    await expectDamage(between, `expected blocks up to byte ${between.length - FOOTER}, got them up to ${table.length - FOOTER}`);
  });

  it('is damaged if a block of handles is, or is compressed: the store compresses none', async () => {
    for (const { offset, length } of [metaindex, index]) {
      for (let at = offset; at < offset + length + TRAILER; at++)
        await expectDamage(flipped(table, 8 * at), `the block at byte ${offset} is damaged`);
      const compressed = flipped(table, 8 * (offset + length));
      compressed.writeUInt32LE(levelChecksum(compressed.subarray(offset, offset + length + 1)), offset + length + 1);
      await expectDamage(compressed, `expected a plain block at byte ${offset}, got one of type 1`);
    }
  });
});
