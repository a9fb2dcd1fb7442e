import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { StoreError } from '../../lib/store/errors';
import { DiskStore } from '../../lib/store/disk-store';
import { MemoryStore } from '../../lib/store/memory-store';
import { caught } from '../support/expectations/caught';
import { newFolder } from '../support/process/folders';
import { MergingStore } from '../support/index/merging-store';
import { until } from '../support/expectations/until';
import { collectGarbage } from '../support/process/garbage';
import type { Store, StoreRange, StoreWrite } from '../../lib/store/store';

const WARM_UP_BATCHES = 2_000;
const BATCHES = 6_000;

const bytes = (text: string): Buffer => Buffer.from(text);
const put = (key: string, value: string): StoreWrite => ({ type: 'put', key: bytes(key), value: bytes(value) });
const del = (key: string): StoreWrite => ({ type: 'del', key: bytes(key) });

async function entries(store: Store, range: Partial<StoreRange> = {}): Promise<string[]> {
  const found: string[] = [];
  for await (const [key, value] of store.range({ gte: Buffer.alloc(0), lt: Buffer.from([0xff]), ...range }))
    found.push(`${key.toString()}=${value.toString()}`);
  return found;
}

let folder: string;

/** For each test of the group: an empty folder. */
function withFolder(): void {
  beforeEach(async () => {
    folder = await newFolder();
  });
}

const engines = {
  'a store on disk': () => new DiskStore(join(folder, 'index')),
  'a store in memory': () => new MemoryStore()
};

for (const [name, makeStore] of Object.entries(engines)) {
  describe(name, () => {
    withFolder();
    let store: Store;

    beforeEach(async () => {
      store = makeStore();
      await store.open();
    });
    afterEach(() => store.close());

    it('gives undefined for a missing key', async () => {
      expect(store.get(bytes('a'))).to.equal(undefined);
      expect(await store.load([bytes('a'), bytes('b')])).to.deep.equal([undefined, undefined]);
      expect(await store.load([bytes('a')])).to.deep.equal([undefined]);
    });

    it('gives the values in the order of the keys asked for', async () => {
      await store.batch([put('a', '1'), put('b', '2')], { durable: false });
      const keys = ['b', 'x', 'a', 'b'].map(bytes);
      const values = [bytes('2'), undefined, bytes('1'), bytes('2')];
      expect(await store.load(keys)).to.deep.equal(values);
    });

    it('keeps empty values and tells them from missing ones', async () => {
      await store.batch([put('a', '')], { durable: true });
      expect(store.get(bytes('a'))).to.deep.equal(Buffer.alloc(0));
    });

    it('writes a batch in its order, the last write of a key counts', async () => {
      await store.batch([put('a', '1'), put('a', '2'), put('b', '3'), del('b'), del('c'), put('c', '4')], { durable: false });
      expect(await entries(store)).to.deep.equal(['a=2', 'c=4']);
    });

    it('gives ranges in the order of the bytes, both ways and up to a limit', async () => {
      await store.batch(
        ['b', 'a', 'ab', 'c', 'd'].map((key) => put(key, key)),
        { durable: false }
      );
      expect(await entries(store, { gte: bytes('ab'), lt: bytes('d') })).to.deep.equal(['ab=ab', 'b=b', 'c=c']);
      expect(await entries(store, { gte: bytes('ab'), lt: bytes('d'), reverse: true, limit: 2 })).to.deep.equal(['c=c', 'b=b']);
    });

    it('reads a snapshot as it was, whatever is written later', async () => {
      await store.batch([put('a', '1')], { durable: false });
      const snapshot = store.snapshot();
      await store.batch([put('a', '2'), put('b', '2')], { durable: false });
      expect(snapshot.get(bytes('a'))).to.deep.equal(bytes('1'));
      expect([snapshot.get(bytes('b')), snapshot.get(bytes('a'))]).to.deep.equal([undefined, bytes('1')]);
      expect(await snapshot.load(['b', 'a'].map(bytes))).to.deep.equal([undefined, bytes('1')]);
      // More entries than are read at once.
      const many = Array.from({ length: 1_200 }, () => bytes('a'));
      expect(await snapshot.load(many)).to.deep.equal(many.map(() => bytes('1')));
      const loading = snapshot.load([bytes('a')]);
      snapshot.close();
      expect(await loading).to.deep.equal([bytes('1')]);
      expect(store.get(bytes('a'))).to.deep.equal(bytes('2'));
    });

    it('refuses to read a snapshot that was closed', async () => {
      const snapshot = store.snapshot();
      snapshot.close();
      expect(() => snapshot.get(bytes('a')))
        .to.throw(StoreError)
        .with.property('reason', 'closed');
      expect(await caught(snapshot.load([bytes('a')])))
        .to.be.instanceOf(StoreError)
        .with.property('reason', 'closed');
    });

    it('reads a few keys at once, until the turn has had its allowance', async () => {
      await store.batch([put('a', '1'), put('b', '2')], { durable: false });
      const snapshot = store.snapshot();
      const [keys, values] = [['b', 'x', 'a'].map(bytes), [bytes('2'), undefined, bytes('1')]];
      const spend = (): unknown => {
        for (;;) {
          const found = snapshot.few(keys);
          if (found instanceof Promise) return found;
          expect(found).to.deep.equal(values);
        }
      };
      for (let turn = 0; turn < 3; turn++) {
        expect(await spend()).to.deep.equal(values);
        expect(await snapshot.head({ gte: bytes('a'), lt: bytes('c') }, 1)).to.deep.equal({
          entries: [[bytes('a'), bytes('1')]],
          isWhole: false
        });
        await until(() => !(snapshot.few(keys) instanceof Promise));
      }
      snapshot.close();
    });

    it('gives the first entries of a range of a snapshot, and says if these are all, however much was read before in the turn', async () => {
      const key = fc.integer({ min: 0, max: 40 }).map((at) => bytes(`k${String(at).padStart(2, '0')}`));
      const all = Array.from({ length: 20 }, (_, i) => `k${String(2 * i + 1).padStart(2, '0')}`);
      await store.batch(
        all.map((each) => put(each, 'v'.repeat(each.endsWith('1') ? 20_000 : 1))),
        { durable: false }
      );
      const snapshot = store.snapshot();
      await store.batch([put('k02', 'later'), del('k03')], { durable: false });
      await fc.assert(
        fc.asyncProperty(key, key, fc.integer({ min: 1, max: 5 }), fc.boolean(), fc.boolean(), async (gte, lt, most, reverse, isSpent) => {
          while (isSpent && !(snapshot.few([gte]) instanceof Promise));
          const { entries: found, isWhole } = await snapshot.head({ gte, lt, reverse }, most);
          const within = all.filter((each) => each >= gte.toString() && each < lt.toString());
          if (reverse) within.reverse();
          const names = found.map(([each]) => each.toString());
          expect(names).to.deep.equal(within.slice(0, names.length));
          // Of long entries there may be fewer.
          expect(names.length).to.be.at.least(Math.min(1, within.length)).and.at.most(most);
          if (isWhole) expect(names.length).to.equal(within.length);
        })
      );
      snapshot.close();
      expect(await caught(snapshot.head({ gte: bytes('a'), lt: bytes('z') }, 1))).to.be.instanceOf(StoreError);
    });

    it('gives the entries below the end of a range, however long the entry is that stands there', async () => {
      await store.batch([put('a', '1'), put('b', '2'), put('c', 'v'.repeat(40_000))], { durable: false });
      const snapshot = store.snapshot();
      await until(() => !(snapshot.few([bytes('a')]) instanceof Promise));
      const { entries: found } = await snapshot.head({ gte: bytes('a'), lt: bytes('c'), reverse: true }, 1);
      expect(found).to.deep.equal([[bytes('b'), bytes('2')]]);
      snapshot.close();
    });

    it('holds the same for each use that it is prepared for', async () => {
      const written: string[] = [];
      for (const use of ['following', 'catching-up', 'catching-up', 'following', 'catching-up'] as const) {
        await store.prepareFor(use);
        written.push(`k${written.length}=${use}`);
        await store.batch([put(`k${written.length - 1}`, use)], { durable: false });
        expect(await entries(store)).to.deep.equal(written);
      }
      await store.clear();
      expect(await entries(store)).to.deep.equal([]);
    });

    it('is empty and open after it was cleared, even with open snapshots', async () => {
      await store.batch([put('a', '1')], { durable: false });
      store.snapshot();
      await store.clear();
      expect(await entries(store)).to.deep.equal([]);
      await store.batch([put('b', '2')], { durable: false });
      expect(await entries(store)).to.deep.equal(['b=2']);
    });

    it('stays as it is when it is opened while it is open', async () => {
      await store.batch([put('a', '1')], { durable: false });
      const snapshot = store.snapshot();
      await store.open();
      expect([store.get(bytes('a')), snapshot.get(bytes('a'))]).to.deep.equal([bytes('1'), bytes('1')]);
      snapshot.close();
    });

    it('reports when it has copied all writes, before it has written any of them', async () => {
      let held: Buffer | undefined = bytes('not called');
      await store.batch([put('a', '1')], {
        durable: false,
        onTaken: () => {
          held = store.get(bytes('a'));
        }
      });
      expect(held).to.equal(undefined);
      expect(store.get(bytes('a'))).to.deep.equal(bytes('1'));
    });

    it('refuses to work when it is closed', async () => {
      await store.batch([put('a', '1')], { durable: false });
      await store.close();
      expect(() => store.get(bytes('a')))
        .to.throw(StoreError)
        .with.property('reason', 'closed');
      expect(await caught(store.batch([put('a', '1')], { durable: false })))
        .to.be.instanceOf(StoreError)
        .with.property('reason', 'closed');
      expect(await caught(store.load([bytes('a')]))).to.be.instanceOf(StoreError);
      expect(await caught(entries(store))).to.be.instanceOf(StoreError);
      expect(() => store.snapshot()).to.throw(StoreError);
      expect(await caught(store.prepareFor('catching-up')))
        .to.be.instanceOf(StoreError)
        .with.property('reason', 'closed');
    });

    it('copies each write before it asks for the next one', async () => {
      const bytes = Buffer.from('a1');
      function* writes(): Generator<StoreWrite> {
        for (const text of ['a1', 'b2', 'c3']) {
          bytes.write(text);
          yield { type: 'put', key: bytes.subarray(0, 1), value: bytes.subarray(1) };
        }
        bytes.write('b2');
        yield { type: 'del', key: bytes.subarray(0, 1) };
        bytes.fill(0);
      }
      await store.batch(writes(), { durable: false });
      await store.batch([], { durable: false });
      expect(await entries(store)).to.deep.equal(['a=1', 'c=3']);
    });

    it('holds what a plain map holds after any batches', async () => {
      const write = fc.record({ key: fc.uint8Array({ minLength: 1, maxLength: 2 }), value: fc.option(fc.uint8Array({ maxLength: 3 })) });
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(write)), async (batches) => {
          await store.clear();
          const model = new Map<string, Buffer>();
          for (const batch of batches) {
            await store.batch(
              batch.map(({ key, value }): StoreWrite =>
                value === null ? { type: 'del', key: Buffer.from(key) } : { type: 'put', key: Buffer.from(key), value: Buffer.from(value) }
              ),
              { durable: false }
            );
            for (const { key, value } of batch) {
              if (value === null) model.delete(Buffer.from(key).toString('latin1'));
              else model.set(Buffer.from(key).toString('latin1'), Buffer.from(value));
            }
          }
          const found: [string, Buffer][] = [];
          for await (const [key, value] of store.range({ gte: Buffer.alloc(0), lt: Buffer.alloc(3, 0xff) }))
            found.push([key.toString('latin1'), value]);
          expect(found).to.deep.equal([...model].sort(([a], [b]) => (a < b ? -1 : 1)));
        }),
        { numRuns: 25 }
      );
    });
  });
}

describe('a store on disk', () => {
  withFolder();

  const path = (): string => join(folder, 'index');

  it('keeps its data when it is closed and opened again', async () => {
    const store = new DiskStore(path());
    await store.open();
    await store.batch([put('a', '1')], { durable: true });
    await store.close();
    await store.open();
    expect(await entries(store)).to.deep.equal(['a=1']);
    await store.close();
  });

  it('keeps nothing of a batch that is written', async () => {
    const store = new DiskStore(path());
    await store.open();
    const write = async (count: number): Promise<number> => {
      for (let at = 0; at < count; at++) await store.batch([put('a', '1')], { durable: false });
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = await write(WARM_UP_BATCHES);
    const after = await write(BATCHES);
    expect((after - before) / BATCHES, 'bytes of the heap that a batch keeps').to.be.below(80);
    await store.close();
  });

  it('has everything in tables when it is closed: nothing is left to be read from the log', async () => {
    const store = new DiskStore(path());
    await store.open();
    await store.batch([put('a', '1'.repeat(10_000))], { durable: false });
    await store.close();
    const logs = (await readdir(path())).filter((file) => file.endsWith('.log'));
    expect(await Promise.all(logs.map(async (log) => (await stat(join(path(), log))).size))).to.deep.equal([0]);
  });

  it('keeps no merged tables for reads that are over, whether they came to their end or not', async () => {
    const store = new MergingStore(path());
    await store.open();
    for (const version of ['1', '2']) {
      await store.batch(
        Array.from({ length: 3_000 }, (_, i) => put(`k${i}`, version.repeat(100))),
        { durable: false }
      );
      await store.prepareFor(version === '1' ? 'catching-up' : 'following');
    }
    const range = { gte: bytes('k'), lt: bytes('l') };
    const snapshot = store.snapshot();
    for (const read of [store.range(range), snapshot.range(range), snapshot.pages(range)]) {
      const parts = read[Symbol.asyncIterator]();
      await parts.next();
      await parts.return?.();
    }
    const last = snapshot.head(range, 1);
    snapshot.close();
    await last;
    await store.merge(range.gte, range.lt);
    expect((await readdir(path())).filter((file) => file.endsWith('.ldb'))).to.have.length(1);
    await store.close();
  });

  it('says that another process or store uses the folder', async () => {
    const [first, second] = [new DiskStore(path()), new DiskStore(path())];
    await first.open();
    const error = await caught(second.open());
    expect(error).to.be.instanceOf(StoreError).with.property('reason', 'locked');
    expect(error).to.have.property('message').that.includes(path());
    await first.close();
  });

  it('says that another store uses the folder, and not that the files are damaged, while that one may be changing them', async () => {
    const [first, second] = [new DiskStore(path()), new DiskStore(path())];
    await first.open();
    await rm(join(path(), 'CURRENT'));
    await writeFile(join(path(), '000099.ldb'), 'a table');
    expect(await caught(second.open()))
      .to.be.instanceOf(StoreError)
      .with.property('reason', 'locked');
    await first.close();
    expect(await caught(second.open()))
      .to.be.instanceOf(StoreError)
      .with.property('reason', 'corrupt');
  });

  it('says that the path is not a folder', async () => {
    await writeFile(path(), 'a file');
    expect(await caught(new DiskStore(path()).open()))
      .to.be.instanceOf(StoreError)
      .with.property('message')
      .that.includes(`cannot open the store in ${path()}: `);
  });

  it('says that its files are damaged, and clearing repairs it', async () => {
    await mkdir(path());
    const store = new DiskStore(path());
    await store.open();
    await store.batch([put('a', '1')], { durable: true });
    await store.close();
    const manifest = (await readdir(path())).find((file) => file.startsWith('MANIFEST')) ?? '';
    await writeFile(join(path(), manifest), 'no manifest at all');
    const error = await caught(store.open());
    expect(error).to.be.instanceOf(StoreError).with.property('reason', 'corrupt');
    await store.clear();
    expect(await entries(store)).to.deep.equal([]);
    await store.close();
  });

  it('is closed for a moment when it is prepared for another use; its snapshots are closed for good', async () => {
    const store = new DiskStore(path());
    await store.open();
    await store.batch([put('a', '1')], { durable: true });
    const snapshot = store.snapshot();
    const prepared = store.prepareFor('catching-up');
    expect(() => store.get(bytes('a')))
      .to.throw(StoreError)
      .with.property('reason', 'closed');
    await prepared;
    expect(store.get(bytes('a'))).to.deep.equal(bytes('1'));
    expect(() => snapshot.get(bytes('a')))
      .to.throw(StoreError)
      .with.property('reason', 'closed');
    snapshot.close();
    await store.close();
  });

  it('stays closed when it is closed while it is cleared, or prepared for another use', async () => {
    for (const reopen of [(store: Store) => store.clear(), (store: Store) => store.prepareFor('catching-up')]) {
      const store = new DiskStore(path());
      await store.open();
      const reopening = reopen(store);
      await store.close();
      expect(await caught(reopening))
        .to.be.instanceOf(StoreError)
        .with.property('reason', 'closed');
      expect(() => store.get(bytes('a')))
        .to.throw(StoreError)
        .with.property('reason', 'closed');
      // Another one may have the folder.
      await store.open();
      await store.close();
    }
  });

  it('is closed only after current writes are done', async () => {
    // Taking them over takes many turns.
    const store = new DiskStore(path());
    await store.open();
    const writing = store.batch(
      Array.from({ length: 50_000 }, (_, i) => put(`k${i}`, '1')),
      { durable: false }
    );
    await store.close();
    await writing;
    await store.open();
    await store.batch([put('l', '1')], { durable: false });
    expect(await entries(store)).to.have.length(50_001);
    await store.close();
  });

  it('writes nothing of a batch that is being taken over when it is cleared', async () => {
    const store = new DiskStore(path());
    await store.open();
    const writing = caught(
      store.batch(
        Array.from({ length: 50_000 }, (_, i) => put(`k${i}`, '1')),
        { durable: false }
      )
    );
    await store.clear();
    expect(await writing)
      .to.be.instanceOf(StoreError)
      .with.property('reason', 'closed');
    await store.batch([put('l', '1')], { durable: false });
    expect(await entries(store)).to.deep.equal(['l=1']);
    await store.close();
  });

  describe('whose log is damaged', () => {
    /** Each takes about two blocks of the log. */
    const writes = Array.from({ length: 8 }, (_, i) => put(`k${i}`, `${i}`.repeat(60_000)));

    /** A closed store as a killed process would have left it, with all writes in one log, and the log changed. */
    async function reopened(change: (log: Buffer) => Buffer): Promise<Store> {
      const store = new DiskStore(path());
      await store.open();
      for (const write of writes) await store.batch([write], { durable: false });
      await cp(path(), join(folder, 'left'), { recursive: true });
      await store.close();
      await rm(path(), { recursive: true });
      await rename(join(folder, 'left'), path());
      const log = (await readdir(path())).find((file) => file.endsWith('.log')) ?? expect.fail('a log');
      await writeFile(join(path(), log), change(await readFile(join(path(), log))));
      return store;
    }

    it('opens if the log is only cut off, and has the writes before the cut', async () => {
      for (const cut of [1, 6, 7, 30_000, 60_000, 200_000]) {
        const store = await reopened((log) => log.subarray(0, log.length - cut));
        await store.open();
        const there = writes.map(({ key }) => store.get(key) !== undefined);
        expect(there.lastIndexOf(true), `${cut} bytes`).to.equal(there.indexOf(false) - 1);
        expect(there.includes(false)).to.equal(true);
        await store.clear();
        await store.close();
      }
    });

    it('opens if space after the last write was never written', async () => {
      const store = await reopened((log) => Buffer.concat([log, Buffer.alloc(100_000)]));
      await store.open();
      expect(await store.load(writes.map(({ key }) => key))).to.not.include(undefined);
      await store.close();
    });

    it('says so if writes follow the damage, and is empty after it was cleared', async () => {
      const damages: ((log: Buffer) => Buffer)[] = [
        (log) => log.fill(0, 100_000, 104_096),
        (log) => log.fill(0, 98_304, 131_072),
        (log) => {
          log.writeUInt8((log[70_000] ?? 0) ^ 1, 70_000);
          return log;
        },
        (log) => {
          log.writeUInt16LE(9, 4);
          return log;
        }
      ];
      for (const damage of damages) {
        const store = await reopened(damage);
        const error = await caught(store.open());
        expect(error).to.be.instanceOf(StoreError).with.property('reason', 'corrupt');
        expect(error)
          .to.have.property('message')
          .that.matches(/\d+\.log is damaged at byte \d+, and writes follow$/);
        await store.clear();
        expect(await entries(store)).to.deep.equal([]);
        await store.close();
      }
    });
  });
});
