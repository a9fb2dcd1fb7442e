import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { StoreError } from '../../lib/store/errors';
import { diskStore } from '../../lib/store/level-store';
import { uncompress } from '../../lib/store/level-snappy';
import { caught } from '../support/caught';

/** Enough blocks, with keys alike, for the block of handles to be compressed too. */
const RECORDS = 20_000;
const key = (i: number): Buffer => Buffer.from(`a key that is much like the others ${String(i).padStart(8, '0')}`);

describe('a store whose tables are compressed, as they were before layout 2', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-snappy-'));
    const level = new ClassicLevel<Buffer, Buffer>(folder, { keyEncoding: 'buffer', valueEncoding: 'buffer' });
    await level.open();
    const batch = level.batch();
    for (let i = 0; i < RECORDS; i++) batch.put(key(i), Buffer.alloc(40, i));
    await batch.write();
    // What the log has becomes a table.
    await level.close();
    await level.open();
    await level.close();
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('opens with all that is in it', async () => {
    const store = diskStore(folder);
    await store.open();
    for (let i = 0; i < RECORDS; i += 997) expect(store.get(key(i))).to.deep.equal(Buffer.alloc(40, i));
    await store.close();
  });

  it('is refused when a table is damaged', async () => {
    const [table = ''] = (await readdir(folder)).filter((name) => name.endsWith('.ldb'));
    const bytes = await readFile(join(folder, table));
    expect(bytes.length, 'compressed').to.be.lessThan(RECORDS * 40);
    for (const at of [10, bytes.length - 60]) {
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
      await writeFile(join(folder, table), damaged);
      const store = diskStore(folder);
      expect(await caught(store.open())).to.be.instanceOf(StoreError).with.property('message').that.includes(`${table}: `);
      await store.close();
    }
  });
});

describe('uncompress', () => {
  const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

  it('reads literals, near and far copies, and copies that reach into themselves', () => {
    expect(uncompress(hex('00')).toString()).to.equal('');
    expect(uncompress(hex('03 08 616263')).toString()).to.equal('abc');
    expect(uncompress(hex('08 04 6162 09 02')).toString()).to.equal('abababab');
    expect(uncompress(hex('05 04 6162 0a 0200')).toString()).to.equal('ababa');
    expect(uncompress(hex('05 04 6162 0b 02000000')).toString()).to.equal('ababa');
    expect(uncompress(Buffer.concat([hex('46 f0 45'), Buffer.alloc(70, 'x')])).toString()).to.equal('x'.repeat(70));
  });

  it('refuses what breaks off, is longer or shorter than it says, or copies from before the beginning', () => {
    for (const bytes of ['', '05', '03 08 6162', '04 08 616263', '02 08 616263', '08 04 6162 09 03', '08 04 6162 09 00', '05 04 6162 0a 02'])
      expect(() => uncompress(hex(bytes)), bytes).to.throw('expected ');
  });
});
