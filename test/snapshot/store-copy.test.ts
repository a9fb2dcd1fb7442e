import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { copyStore } from '../../lib/snapshot/store-copy';
import { DiskStore } from '../../lib/store/disk-store';
import { WHOLE_STORE } from '../../lib/store/migrate';
import { StoreError } from '../../lib/store/errors';
import { newFolder } from '../support/process/folders';
import { testScale } from '../support/process/scale';
import type { Store, StoreWrite } from '../../lib/store/store';

/** In every batch: a count, and as many records as are needed for tables to be written and merged all the time. */
const COUNT_KEY = Buffer.from([0]);
const RECORDS = 400;
const VALUE_BYTES = 1_000;

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const key = (record: number): Buffer => Buffer.concat([Buffer.of(1), number((record * 2_654_435_761) % 2 ** 32), number(record)]);

function batchOf(count: number): StoreWrite[] {
  const first = (count - 1) * RECORDS;
  const records = Array.from({ length: RECORDS }, (_, i) => ({
    type: 'put' as const,
    key: key(first + i),
    value: Buffer.concat([number(count), Buffer.alloc(VALUE_BYTES, count)])
  }));
  return [...records, { type: 'put', key: COUNT_KEY, value: number(count) }];
}

/** How many batches a store has: all of them whole, and no others. */
async function expectWhole(store: Store): Promise<number> {
  const count = store.get(COUNT_KEY)?.readUInt32BE() ?? 0;
  let records = 0;
  for await (const [each, value] of store.range(WHOLE_STORE)) {
    if (each.equals(COUNT_KEY)) continue;
    records++;
    expect(value.readUInt32BE()).to.equal(Math.floor(each.readUInt32BE(5) / RECORDS) + 1);
  }
  expect(records).to.equal(count * RECORDS);
  return count;
}

const quietly = { onProgress: () => undefined, signal: new AbortController().signal };

describe('copying a store that is written to', function () {
  this.timeout(120_000 * testScale());

  it('always gives a store with whole batches, also while tables are merged and the store is opened again', async () => {
    const folder = await newFolder();
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    const store = new DiskStore(from);
    await store.open();
    const run = { written: 0, isOver: false };
    const writing = (async () => {
      for (let use = 0; !run.isOver; use++) {
        for (let i = 0; i < 60; i++) {
          await store.batch(batchOf(run.written + 1), { durable: i % 20 === 0 });
          run.written++;
        }
        // Writes a table, and begins a new manifest and log.
        await store.prepareFor(use % 2 === 0 ? 'catching-up' : 'following');
      }
    })();
    const counts: number[] = [];
    try {
      for (let i = 0; i < 3 * testScale(); i++) {
        const before = run.written;
        counts.push(await copyStore(from, to, { ...quietly, inspect: expectWhole }));
        expect(counts.at(-1)).to.be.within(before, run.written + 1);
        while (run.written === before) await setImmediate();
      }
    } finally {
      run.isOver = true;
      await writing;
      await store.close();
    }
    expect(new Set(counts).size).to.equal(counts.length);
  });

  it('changes nothing in the original when the copy is written to', async () => {
    const folder = await newFolder();
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    const store = new DiskStore(from);
    await store.open();
    await store.batch(batchOf(1), { durable: true });
    await store.close();
    await copyStore(from, to, { ...quietly, inspect: expectWhole });
    const copy = new DiskStore(to);
    await copy.open();
    for (let count = 2; count < 60; count++) await copy.batch(batchOf(count), { durable: false });
    await copy.close();
    await store.open();
    expect(await expectWhole(store)).to.equal(1);
    await store.close();
    await rm(from, { recursive: true });
    await copy.open();
    expect(await expectWhole(copy)).to.equal(59);
    await copy.close();
  });

  it('writes into no table that the original began after its manifest was copied', async () => {
    const folder = await newFolder();
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    const store = new DiskStore(from);
    await store.open();
    // In the log alone, of which the copy makes a table.
    await store.batch(batchOf(1), { durable: true });
    const begun = Array.from({ length: 40 }, (_, number) => join(from, `${String(number).padStart(6, '0')}.ldb`));
    for (const path of begun) await writeFile(path, path);
    expect(await copyStore(from, to, { ...quietly, inspect: expectWhole })).to.equal(1);
    for (const path of begun) expect(await readFile(path, 'utf8')).to.equal(path);
    await store.close();
  });

  it('makes the copy again when what was copied does not belong together', async () => {
    const folder = await newFolder();
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    const store = new DiskStore(from);
    await store.open();
    await store.batch(batchOf(1), { durable: true });
    let looks = 0;
    const inspect = async (copy: Store): Promise<number> => {
      if (++looks < 3) throw new StoreError('corrupt', 'torn');
      return await expectWhole(copy);
    };
    expect(await copyStore(from, to, { ...quietly, inspect })).to.equal(1);
    expect(looks).to.equal(3);
    await store.close();
  });
});
