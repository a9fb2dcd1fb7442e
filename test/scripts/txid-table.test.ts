import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { ScriptsUnavailableError } from '../../lib/scripts/errors';
import { packed } from '../../lib/scripts/records/positions';
import { PAGE_TXIDS } from '../../lib/scripts/txids/transaction-numbers';
import { TxidTable } from '../../lib/scripts/txids/txid-table';
import { DiskStore } from '../../lib/store/disk-store';
import { StoreError } from '../../lib/store/errors';
import { MemoryStore } from '../../lib/store/memory-store';
import { DamagedPageError, PAGE_LENGTH } from '../../lib/store/pages';
import { caught } from '../support/expectations/caught';
import { expectSame, expectSameBytes } from '../support/expectations/expect-same';
import { FaultyStore } from '../support/index/faulty-store';
import { flipBit } from '../support/index/flipped-bit';
import { newFolder } from '../support/process/folders';
import { holdReads } from '../support/index/held-reads';
import { until } from '../support/expectations/until';
import type { TxidView } from '../../lib/scripts/txids/txid-view';
import type { Store } from '../../lib/store/store';

/** Bytes of a page in its file. */
const STORED = PAGE_LENGTH + 4;

/** The txids of a block of this many transactions; other seeds give others. */
const txidsOf = (seed: number, count: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => {
    const txid = Buffer.alloc(32, index);
    txid.writeUInt32BE(seed);
    txid.writeUInt32BE(index, 4);
    return txid;
  });

/** A table, and the txids that it should have. */
class Tested {
  readonly chain: Buffer[][] = [];
  /** The last page before each block. */
  readonly #lastPages: Buffer[] = [];
  #made = 0;

  private constructor(
    readonly store: Store,
    public table: TxidTable
  ) {}

  static async on(store: Store): Promise<Tested> {
    await store.open();
    return new Tested(store, await TxidTable.load(store, 0));
  }

  async add(counts: readonly number[], durable = false): Promise<void> {
    const addition = this.table.add();
    const blocks = counts.map((count) => txidsOf(++this.#made, count));
    for (const txids of blocks) addition.take(Buffer.concat(txids));
    await (durable ? addition.sync() : addition.write());
    await this.store.batch([...addition.writes(), ...this.table.noteSynced()], { durable });
    addition.commit();
    for (const txids of blocks) {
      this.#lastPages.push(this.#lastPage());
      this.chain.push(txids);
    }
  }

  async remove(): Promise<boolean> {
    const removal = this.table.remove(this.#lastPages.pop() ?? expect.fail('a block'));
    await this.store.batch(removal.writes, { durable: removal.durable });
    removal.commit();
    this.chain.pop();
    return removal.durable;
  }

  async reload(): Promise<void> {
    this.table = await TxidTable.load(this.store, this.chain.length);
    await this.table.cut();
    await this.table.check();
  }

  expectRight(view: TxidView = this.table.view, chain: readonly (readonly Buffer[])[] = this.chain): void {
    expect(view.blocks).to.equal(chain.length);
    for (const [height, txids] of chain.entries()) {
      const index = txids.length - 1;
      expectSame(view.transactions(height), txids.length);
      expectSameBytes(view.ofBlock(height), Buffer.concat(txids), `block ${height}`);
      expectSameBytes(view.at({ height, index }), txids[index]);
      expectSame(view.at({ height, index: index + 1 }), undefined);
    }
    expect(view.at({ height: chain.length, index: 0 })).to.equal(undefined);
  }

  /** As undo records have it. */
  #lastPage(): Buffer {
    const count = this.chain.reduce((sum, { length }) => sum + length, 0) % PAGE_TXIDS;
    const page: Buffer[] = [];
    for (let height = this.chain.length; page.length < count;) page.unshift(...(this.chain[--height] ?? []));
    return Buffer.concat(page.slice(page.length - count));
  }
}

type Step = { readonly add: readonly number[] } | { readonly remove: number } | 'look' | 'reload';

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 9 }) }) },
  { weight: 1, arbitrary: fc.constant({ add: Array.from({ length: 300 }, () => 1) }) },
  { weight: 3, arbitrary: fc.record({ remove: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 3, arbitrary: fc.constant('look' as const) },
  { weight: 1, arbitrary: fc.constant('reload' as const) }
);

describe('the table of txids', () => {
  for (const disk of [false, true])
    it(`has the txids of every block, as every view of any age has those of its blocks, ${disk ? 'on disk' : 'in memory'}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
          const tested = await Tested.on(disk ? new DiskStore(await newFolder()) : new MemoryStore());
          const views: { readonly view: TxidView; readonly chain: readonly Buffer[][] }[] = [];
          for (const next of steps) {
            if (next === 'look') views.push({ view: tested.table.view, chain: [...tested.chain] });
            else if (next === 'reload') {
              await tested.reload();
              views.length = 0;
            } else if ('add' in next) await tested.add(next.add);
            else for (let left = Math.min(next.remove, tested.chain.length); left > 0; left--) await tested.remove();
            tested.expectRight();
            for (const { view, chain } of views) tested.expectRight(view, chain);
          }
          await tested.reload();
          tested.expectRight();
          await tested.store.close();
        }),
        { numRuns: disk ? 8 : 40 }
      );
    });

  it('gives the txids of many positions, in their order, wherever they are', async () => {
    const tested = await Tested.on(new DiskStore(await newFolder()));
    await tested.add([40, 1, 2_000, 33, 7]);
    const old = { view: tested.table.view, chain: [...tested.chain] };
    for (let i = 0; i < 3; i++) await tested.remove();
    await tested.add([50, 4_000, 3]);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(old, { view: tested.table.view, chain: tested.chain }),
        fc.array(fc.tuple(fc.nat(), fc.nat())),
        async ({ view, chain }, picks) => {
          const positions = picks.map(([at, pick]) => {
            const height = at % chain.length;
            return { height, index: pick % (chain[height] as Buffer[]).length };
          });
          positions.sort((a, b) => a.height - b.height || a.index - b.index);
          const found = await view.of(positions.map(({ height, index }) => packed(height, index)));
          expect(found.equals(Buffer.concat(positions.map(({ height, index }) => (chain[height] as Buffer[])[index] as Buffer)))).to.equal(
            true
          );
        }
      ),
      { numRuns: 100 }
    );
    for (const position of [packed(5, 3), packed(6, 0), packed(0, 40)])
      expect(() => tested.table.view.of([position])).to.throw(DamagedIndexError);
    await tested.store.close();
  });

  it('reads thousands of txids in several turns of the event loop', async () => {
    const tested = await Tested.on(new DiskStore(await newFolder()));
    const blocks = 200;
    await tested.add(Array.from({ length: blocks }, () => 1_500));
    const positions = Array.from({ length: blocks * 20 }, (_, i) => packed(Math.floor(i / 20), (i % 20) * 75));
    let turns = 0;
    const work = { isOver: false };
    const counting = (async () => {
      for (; !work.isOver; turns++) await setImmediate();
    })();
    const found = await tested.table.view.of(positions);
    work.isOver = true;
    await counting;
    expect(turns).to.be.above(1);
    for (const [i, txid] of positions.entries())
      expect(
        found.subarray(i * 32, (i + 1) * 32).equals(tested.chain[Math.floor(txid / 65_536)]?.[txid % 65_536] ?? Buffer.alloc(0))
      ).to.equal(true);
    await tested.store.close();
  });

  it('needs no file any more for the newest txids once they were read, and stops reading when a block leaves', async () => {
    const folder = await newFolder();
    const tested = await Tested.on(new DiskStore(folder));
    await tested.add(Array.from({ length: 40 }, () => 1_000));
    await tested.table.view.readNewest();
    await flipBit(join(folder, 'PAGES'), 1_000);
    tested.expectRight();
    await tested.store.close();
    await tested.store.open();
    expect(await caught(Promise.resolve().then(() => tested.expectRight()))).to.be.instanceOf(DamagedPageError);
    await flipBit(join(folder, 'PAGES'), 1_000);
    const reading = tested.table.view.readNewest();
    await tested.remove();
    await tested.store.pages.cut(0);
    // Otherwise it would call pages missing that are to be.
    await reading;
    await tested.store.close();
  });

  it('gives the txids of a view although its blocks leave, and others come in their place, while it reads', async () => {
    const reading = { isHeld: false, goOn: (): void => undefined };
    const disk = holdReads(new DiskStore(await newFolder()), () =>
      reading.isHeld ? new Promise((resolve) => (reading.goOn = resolve)) : undefined
    );
    const tested = await Tested.on(disk);
    await tested.add([100, 200, 300, 3]);
    for (const removed of [1, 2, 3]) {
      const chain = [...tested.chain];
      reading.isHeld = true;
      const positions = chain.flatMap((txids, height) => txids.map((_, index) => packed(height, index)));
      const found = Promise.resolve(tested.table.view.of(positions));
      for (let i = 0; i < removed; i++) await tested.remove();
      await tested.add([250, 250, 250]);
      reading.isHeld = false;
      reading.goOn();
      expect((await found).equals(Buffer.concat(chain.flat()))).to.equal(true);
    }
    await tested.store.close();
  });

  it('syncs its pages now and then, and no longer calls blocks synced whose txids are replaced', async () => {
    const tested = await Tested.on(new MemoryStore());
    const recorded = (): number => tested.store.get(Buffer.from('M'))?.readUInt32BE() ?? 0;
    await tested.add(Array.from({ length: 150 }, () => 3));
    expect(recorded()).to.equal(0);
    await setImmediate();
    await tested.add([1]);
    expect(recorded()).to.equal(150);
    expect(await tested.remove(), 'a block that is not synced').to.equal(false);
    expect(recorded()).to.equal(150);
    expect(await tested.remove(), 'a block that is synced').to.equal(true);
    expect(recorded()).to.equal(149);
    await tested.add([5, 5]);
    expect(recorded()).to.equal(149);
    await tested.add([5], true);
    expect(recorded()).to.equal(152);
    // A block that leaves while the pages are synced does not count as synced.
    await tested.add(Array.from({ length: 144 }, () => 2));
    await tested.remove();
    await setImmediate();
    await tested.add([1]);
    expect(recorded()).to.equal(295);
  });

  it('adds nothing more when its pages could not be synced', async () => {
    const store = new FaultyStore(new MemoryStore());
    const tested = await Tested.on(store);
    store.fail('pages.sync', 0);
    await tested.add(Array.from({ length: 144 }, () => 1));
    await until(() => store.hasFailed);
    await setImmediate();
    expect(await caught(tested.add([1]))).to.be.instanceOf(StoreError);
    store.heal();
    await tested.reload();
    await tested.add([1]);
    tested.expectRight();
  });

  it('finds txids of blocks that did not reach the disk, whatever a power cut left of them, and repairs them from the blocks', async () => {
    const loss = fc.record({
      synced: fc.integer({ min: 0, max: 20 }),
      counts: fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 20 }),
      lost: fc.array(fc.record({ page: fc.nat(), how: fc.constantFrom('flip', 'zero', 'other', 'cut') }), { minLength: 1, maxLength: 4 })
    });
    let damaged = 0;
    await fc.assert(
      fc.asyncProperty(loss, async ({ synced, counts, lost }) => {
        const folder = await newFolder();
        const store = new DiskStore(folder);
        const tested = await Tested.on(store);
        if (synced > 0)
          await tested.add(
            Array.from({ length: synced }, (_, i) => 10 + i),
            true
          );
        const first = store.pages.count();
        for (const count of counts) await tested.add([count]);
        for (const { page, how } of lost) {
          const last = store.pages.count() - 1;
          if (last < first) continue;
          const at = first + (page % (last - first + 1));
          if (how === 'flip') await flipBit(`${folder}/PAGES`, at * STORED * 8 + (page % (STORED * 8)));
          // What another branch had there: sound pages with other txids.
          else if (how === 'other') await store.pages.write(at, Buffer.concat(txidsOf(99, PAGE_TXIDS)));
          else if (how === 'cut') await store.pages.cut(at);
          else if (at < last) {
            await store.pages.write(at, Buffer.alloc(PAGE_LENGTH));
            await flipBit(`${folder}/PAGES`, at * STORED * 8);
          }
        }
        tested.table = await TxidTable.load(store, tested.chain.length);
        for (let times = 0; ; times++) {
          const error = await caught(tested.table.check()).catch(() => undefined);
          if (error === undefined) break;
          expect(error).to.be.instanceOf(DamagedPageError);
          expect(times, 'repairs').to.be.below(10);
          damaged++;
          await tested.table.repair((error as DamagedPageError).page, (height) =>
            Promise.resolve(Buffer.concat(tested.chain[height] ?? []))
          );
        }
        tested.expectRight();
        await store.close();
      }),
      { numRuns: 60 }
    );
    expect(damaged).to.be.above(20);
  });

  it('is not repaired with txids that are not the block’s', async () => {
    const folder = await newFolder();
    const tested = await Tested.on(new DiskStore(folder));
    await tested.add([100]);
    await flipBit(`${folder}/PAGES`, 9_000);
    const error = await caught(tested.table.repair(1, () => Promise.resolve(Buffer.concat(txidsOf(7, 100)))));
    expect(error).to.be.instanceOf(DamagedIndexError);
    expect(() => tested.table.view.ofBlock(0)).to.throw(DamagedPageError);
    await tested.store.close();
  });

  it('cannot give older views what was unreadable when it left', async () => {
    const folder = await newFolder();
    const tested = await Tested.on(new DiskStore(folder));
    await tested.add([50, 100]);
    const { view } = tested.table;
    await flipBit(`${folder}/PAGES`, 3 * STORED * 8);
    await tested.remove();
    expect(() => view.ofBlock(1)).to.throw(ScriptsUnavailableError);
    expect(() => view.of([packed(1, 3)])).to.throw(ScriptsUnavailableError);
    expect(view.ofBlock(0).length).to.equal(50 * 32);
    await tested.store.close();
  });
});
