import { existsSync, statSync, truncateSync } from 'node:fs';
import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { DiskStore } from '../../lib/store/disk-store';
import { StoreError } from '../../lib/store/errors';
import { MemoryStore } from '../../lib/store/memory-store';
import { DamagedPageError, PAGE_LENGTH, type Pages } from '../../lib/store/pages';
import { caught } from '../support/expectations/caught';
import { flipBit } from '../support/index/flipped-bit';
import { newFolder } from '../support/process/folders';
import { testSeed } from '../support/process/scale';
import type { Store } from '../../lib/store/store';

const STORED = PAGE_LENGTH + 4;

/** A page whose bytes tell its number, and which of several it is. */
function page(number: number, version = 0): Buffer {
  const bytes = Buffer.alloc(PAGE_LENGTH, version);
  bytes.writeUInt32BE(number);
  return bytes;
}

const pagesFrom = (first: number, count: number, version = 0): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => page(first + i, version)));

/** The pages, read at once. */
function read(pages: Pages, numbers: readonly number[]): Buffer[] {
  const found: Buffer[] = [];
  expect(pages.visit(numbers, 0, numbers.length, Infinity, taker(found))).to.equal(numbers.length);
  return found;
}

/** The same off the event loop. */
async function load(pages: Pages, numbers: readonly number[]): Promise<Buffer[]> {
  const found: Buffer[] = [];
  await pages.load(numbers, 0, numbers.length, taker(found));
  return found;
}

const taker =
  (found: Buffer[]) =>
  (at: number, bytes: Buffer, start: number): void => {
    found[at] = Buffer.from(bytes.subarray(start, start + PAGE_LENGTH));
  };

const ascending = (numbers: number[]): number[] => numbers.sort((a, b) => a - b);

const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  'on disk': async () => new DiskStore(await newFolder()),
  'in memory': () => Promise.resolve(new MemoryStore())
};

for (const [where, make] of Object.entries(STORES))
  describe(`pages of a store ${where}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await make();
      await store.open();
    });
    afterEach(() => store.close());

    it('are what was written last, in whatever order they are written and read', async () => {
      const write = fc.record({ first: fc.nat({ max: 90 }), count: fc.integer({ min: 1, max: 80 }), version: fc.nat({ max: 255 }) });
      await fc.assert(
        fc.asyncProperty(fc.array(write, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 200 }), async (writes, picks) => {
          await store.clear();
          const model: Buffer[] = [];
          for (const { first, count, version } of writes) {
            const begin = Math.min(first, model.length);
            await store.pages.write(begin, pagesFrom(begin, count, version));
            for (let i = 0; i < count; i++) model[begin + i] = page(begin + i, version);
            const last = model.length - 1;
            expect(read(store.pages, [begin, last])).to.deep.equal([model[begin], model[last]]);
          }
          expect(store.pages.count()).to.equal(model.length);
          const numbers = model.length === 0 ? [] : ascending(picks.map((pick) => pick % model.length));
          const expected = numbers.map((number) => model[number]);
          expect(read(store.pages, numbers)).to.deep.equal(expected);
          expect(await load(store.pages, numbers)).to.deep.equal(expected);
        }),
        { numRuns: 40 }
      );
    });

    it('are the new ones where some were written again, and the old ones beside them', async () => {
      await store.pages.write(0, pagesFrom(0, 6));
      expect(read(store.pages, [1, 2, 3, 4])).to.have.length(4);
      await store.pages.write(2, pagesFrom(2, 2, 1));
      expect(read(store.pages, [1, 2, 3, 4])).to.deep.equal([page(1), page(2, 1), page(3, 1), page(4)]);
    });

    it('are read until it is too late, and then from there on', async () => {
      await store.pages.write(0, pagesFrom(0, 1_000));
      const numbers = [0, 3, 100, 101, 400, 999];
      const found: Buffer[] = [];
      let reads = 0;
      for (let at = 0; at < numbers.length; reads++) at = store.pages.visit(numbers, at, numbers.length, 0, taker(found));
      expect(reads).to.be.within(4, 6);
      expect(found).to.deep.equal(numbers.map((number) => page(number)));
    });

    it('end where they are cut', async () => {
      await store.pages.write(0, pagesFrom(0, 10));
      await store.pages.cut(12);
      expect(store.pages.count()).to.equal(10);
      await store.pages.cut(4);
      expect(store.pages.count()).to.equal(4);
      await store.pages.sync();
      expect(read(store.pages, [3])).to.deep.equal([page(3)]);
      const error = await caught(load(store.pages, [3, 4]));
      expect(error).to.be.instanceOf(DamagedPageError).with.property('page', 4);
      expect(() => read(store.pages, [4])).to.throw(DamagedPageError);
    });

    it('are gone from where they are cut, also those that were read before', async () => {
      await store.pages.write(0, pagesFrom(0, 10));
      expect(read(store.pages, [3, 4])).to.deep.equal([page(3), page(4)]);
      await store.pages.cut(4);
      expect(() => read(store.pages, [3, 4])).to.throw(DamagedPageError);
      await store.pages.write(4, page(4, 1));
      expect(read(store.pages, [3, 4])).to.deep.equal([page(3), page(4, 1)]);
    });

    it('go when the store is cleared, and stay when it is closed', async () => {
      await store.pages.write(0, pagesFrom(0, 3));
      await store.close();
      for (const use of [
        () => store.pages.count(),
        () => read(store.pages, [0]),
        () => load(store.pages, [0]),
        () => store.pages.write(3, page(3))
      ])
        expect(await caught(Promise.resolve().then<unknown>(use)))
          .to.be.instanceOf(StoreError)
          .with.property('reason', 'closed');
      await store.open();
      expect(read(store.pages, [0, 1, 2])).to.deep.equal([page(0), page(1), page(2)]);
      await store.clear();
      expect(store.pages.count()).to.equal(0);
      await store.pages.write(0, page(0, 9));
      expect(read(store.pages, [0])).to.deep.equal([page(0, 9)]);
    });
  });

describe('the file of pages', () => {
  const seed = testSeed();
  let folder: string;
  let store: DiskStore;
  const path = (): string => join(folder, 'PAGES');
  const pageOf = (bit: number): number => Math.floor(bit / (STORED * 8));

  beforeEach(async () => {
    folder = await newFolder();
    store = new DiskStore(folder);
    await store.open();
  });
  afterEach(() => store.close());

  const scrubbed = async (): Promise<number> => {
    let bytes = 0;
    for await (const { count } of store.scrub()) bytes += count;
    return bytes;
  };

  it('does not exist before the first page is written, and only its owner can read it', async () => {
    await store.pages.sync();
    await store.pages.cut(0);
    expect(existsSync(path())).to.equal(false);
    await store.pages.write(0, page(0));
    expect((await stat(path())).mode & 0o077).to.equal(0);
    expect(statSync(path()).size).to.equal(STORED);
  });

  it(`gives no page that was altered, wherever a bit is flipped, and a pass over the files finds it, TEST_SEED=${seed}`, async () => {
    const count = 200;
    await store.pages.write(0, pagesFrom(0, count));
    const all = Array.from({ length: count }, (_, number) => number);
    expect(await scrubbed()).to.equal(count * STORED);
    // Each in a page of its own.
    const flips = new Map<number, number>();
    for (const pick of fc.sample(fc.nat({ max: count * STORED * 8 - 1 }), { seed, numRuns: 100 })) flips.set(pageOf(pick), pick);
    // Otherwise pages that a pass has checked before need not be checked again.
    await store.close();
    for (const pick of flips.values()) await flipBit(path(), pick);
    await store.open();
    for (const number of all) {
      if (!flips.has(number)) expect(read(store.pages, [number])).to.deep.equal([page(number)]);
      else
        for (const error of [
          await caught(load(store.pages, [number])),
          await caught(Promise.resolve().then(() => read(store.pages, [number])))
        ])
          expect(error).to.be.instanceOf(DamagedPageError).with.property('page', number);
    }
    for (const damaged of ascending([...flips.keys()])) {
      expect(await caught(load(store.pages, all)))
        .to.be.instanceOf(DamagedPageError)
        .with.property('page', damaged);
      const found = await caught(scrubbed());
      expect(found).to.include({ reason: 'corrupt', page: damaged }).and.to.have.property('message').that.includes('PAGES: page');
      await flipBit(path(), flips.get(damaged) ?? 0);
    }
    expect(await scrubbed()).to.equal(count * STORED);
    expect(read(store.pages, all)).to.have.length(count);
  });

  it('is checked whole by a pass, also if it has more pages than are checked in one turn', async () => {
    const count = 4_000;
    await store.pages.write(0, pagesFrom(0, count));
    expect(await scrubbed()).to.equal(count * STORED);
    for (const damaged of [0, 1_535, 1_536, 3_071, 3_072, count - 1]) {
      await flipBit(path(), damaged * STORED * 8);
      expect(await caught(scrubbed())).to.include({ reason: 'corrupt', page: damaged });
      await flipBit(path(), damaged * STORED * 8);
    }
    expect(await scrubbed()).to.equal(count * STORED);
  });

  it('gives pages that were read and checked before from memory, and a pass finds all the same what was altered', async () => {
    await store.pages.write(0, pagesFrom(0, 10));
    expect(read(store.pages, [5])).to.deep.equal([page(5)]);
    await flipBit(path(), 5 * STORED * 8);
    expect(read(store.pages, [5])).to.deep.equal([page(5)]);
    expect(await caught(load(store.pages, [5]))).to.be.instanceOf(DamagedPageError);
    expect(await caught(scrubbed())).to.include({ reason: 'corrupt', page: 5 });
    // What is damaged is not given any more once that is known.
    expect(() => read(store.pages, [5])).to.throw(DamagedPageError);
  });

  it('gives no page of another place, no part of a page, and nothing that was never written', async () => {
    await store.pages.write(0, pagesFrom(0, 6));
    const bytes = await readFile(path());
    await writeFile(path(), Buffer.concat([bytes.subarray(STORED), Buffer.alloc(STORED)]));
    for (const number of [0, 1, 4, 5]) expect(() => read(store.pages, [number]), `${number}`).to.throw(DamagedPageError);
    await writeFile(path(), bytes);
    truncateSync(path(), 4 * STORED - 1);
    expect(store.pages.count()).to.equal(3);
    expect(() => read(store.pages, [3])).to.throw('is missing');
    expect(read(store.pages, [0, 2])).to.deep.equal([page(0), page(2)]);
    expect(await scrubbed()).to.equal(3 * STORED);
  });

  it('is not called damaged by a pass while it is written', async () => {
    const work = { isOver: false };
    const passes = (async () => {
      while (!work.isOver) await scrubbed();
    })();
    for (let round = 0; round < 100; round++) {
      await store.pages.write(round % 5, pagesFrom(round % 5, 700, round));
      if (round % 2 === 1) await store.pages.cut(300);
    }
    work.isOver = true;
    await passes;
    expect(await scrubbed()).to.be.above(0);
  });

  it('is not called damaged if a page that a pass has read is written again meanwhile, or cut off', async () => {
    // So many that the last one is written long after the pass has looked at it again.
    const count = 40_000;
    for (const [left, change] of [
      [count, () => store.pages.write(0, pagesFrom(0, count, 1))],
      [count - 1, () => store.pages.cut(count - 1)]
    ] as const) {
      await store.pages.write(0, pagesFrom(0, count));
      await flipBit(path(), (count - 1) * STORED * 8);
      const parts = store.pages.scrub(0);
      let read = 0;
      for (;;) {
        const next = parts.next();
        // The last pages are being read.
        const changing = read > (count - 1_536) * STORED ? change() : undefined;
        const { done, value } = await next;
        await changing;
        if (done === true) break;
        read += value.count;
      }
      // A page that was cut off may have been read before.
      expect(read).to.be.oneOf([left * STORED, count * STORED]);
    }
  });

  it('is counted in a pass with the tables', async () => {
    await store.batch([{ type: 'put', key: Buffer.from('k'), value: Buffer.alloc(20_000) }], { durable: false });
    await store.pages.write(0, pagesFrom(0, 100));
    await store.close();
    await store.open();
    const parts: { count: number; total: number }[] = [];
    for await (const part of store.scrub()) parts.push(part);
    expect(parts.at(-1)?.count).to.equal(100 * STORED);
    const total = parts[0]?.total ?? 0;
    for (const part of parts) expect(part.total).to.equal(total);
    expect(total).to.be.above(100 * STORED + 20_000);
  });

  it('is left alone by a store that has no use for it', async () => {
    await store.pages.write(0, pagesFrom(0, 2));
    await copyFile(path(), `${path()}.copy`);
    await store.batch([{ type: 'put', key: Buffer.from('k'), value: Buffer.alloc(20) }], { durable: true });
    await store.close();
    await store.open();
    expect(await readFile(path())).to.deep.equal(await readFile(`${path()}.copy`));
  });
});
