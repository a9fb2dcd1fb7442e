import { appendFileSync, existsSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, truncateSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { isDamageOfFilling, ScriptFilling, type FillingSizes } from '../../lib/scripts/fill/filling';
import { findFilling } from '../../lib/scripts/records/filling';
import { DiskStore } from '../../lib/store/disk-store';
import { PAGE_LENGTH } from '../../lib/store/pages';
import { caught } from '../support/expectations/caught';
import { FAULT, FaultyStore } from '../support/index/faulty-store';
import { flipBit } from '../support/index/flipped-bit';
import { madeChain, plannedBlock } from '../support/chain/made-chains';
import { ScriptModel } from '../support/index/script-model';
import { expectFilled } from '../support/index/script-filling';
import { testScale, testSeed } from '../support/process/scale';
import type { BatchOptions, Store, StoreWrite } from '../../lib/store/store';

const SIZES: FillingSizes = { files: 4, checkpointBlocks: 12, checkpointBytes: 1 << 20, sortedBytes: 0, sortBytes: 2_000 };
const BLOCKS = 40;
const seed = testSeed();

/** Reports when something reaches the disk, before and after. */
class WatchedStore extends DiskStore {
  onBatch: () => Promise<void> = () => Promise.resolve();

  override async batch(writes: Iterable<StoreWrite>, options: BatchOptions): Promise<void> {
    await this.onBatch();
    await super.batch(writes, options);
    await this.onBatch();
  }
}

describe(`an index by script whose filling was interrupted, TEST_SEED=${seed}`, function () {
  this.timeout(300_000 * testScale());
  const [plans] = fc.sample(fc.array(plannedBlock, { minLength: BLOCKS, maxLength: BLOCKS, size: 'max' }), { seed, numRuns: 1 });
  const model = new ScriptModel(madeChain(plans ?? []));
  const { blocks } = model;
  const genesisHash = blocks[0]?.point.hash ?? Buffer.alloc(0);
  let folder: string;
  /** The files that a kill would have left, at each moment at which something may have reached the disk, in order. */
  const moments: string[] = [];
  /** The first of these moments at which files are sorted. */
  let sorting = '';

  const open = (at: string, store: Store = new DiskStore(join(at, 'store'))): Promise<ScriptFilling> =>
    ScriptFilling.open({
      store,
      filesPath: join(at, 'files'),
      genesisHash,
      fromScratch: false,
      sizes: SIZES,
      throwIfStopped: () => undefined
    });

  async function goOn(filling: ScriptFilling): Promise<void> {
    const { step, at } = filling.progress;
    if (step === 'partitioning') for (const block of blocks.slice(at === undefined ? 0 : at.height + 1)) await filling.take(block);
    await filling.sort(() => undefined);
    await filling.finish();
    await filling.close();
  }

  /** Resumes the filling, which must be right at the end. Returns the damage that was found. */
  async function expectToEndWell(at: string): Promise<string | undefined> {
    const store = new DiskStore(join(at, 'store'));
    let filling = await open(at, store);
    let { damage } = filling;
    try {
      await goOn(filling);
    } catch (error) {
      if (!isDamageOfFilling(error)) throw error;
      damage = error.message;
      await filling.close();
      filling = await ScriptFilling.open({
        store,
        filesPath: join(at, 'files'),
        genesisHash,
        fromScratch: true,
        sizes: SIZES,
        throwIfStopped: () => undefined
      });
      await goOn(filling);
    }
    await store.open();
    await expectFilled(store, blocks);
    await store.close();
    expect(readdirSync(at)).to.deep.equal(['store']);
    return damage;
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-fill-crash-'));
    const at = join(folder, 'first');
    const store = new WatchedStore(join(at, 'store'));
    store.onBatch = async () => {
      const moment = join(folder, `moment-${moments.length}`);
      await cp(at, moment, { recursive: true });
      moments.push(moment);
      if (findFilling(store)?.step === 'sorting') sorting ||= moment;
    };
    await goOn(await open(at, store));
  });
  after(() => rm(folder, { recursive: true }));

  async function withCopy<T>(moment: string, use: (at: string) => Promise<T>): Promise<T> {
    const copy = join(folder, 'copy');
    await cp(moment, copy, { recursive: true });
    try {
      return await use(copy);
    } finally {
      await rm(copy, { recursive: true });
    }
  }

  /** Step, height, files in the store; undefined: nothing, or all. */
  async function progressAt(at: string): Promise<string | undefined> {
    const store = new DiskStore(join(at, 'store'));
    await store.open();
    const progress = findFilling(store);
    await store.close();
    return progress && `${progress.step} ${progress.at?.height ?? 'nothing'} ${progress.loaded}`;
  }

  it('forgets the txids of blocks that it has to take again: other blocks may come in their places', async () => {
    const moment = moments.find((each) => each !== sorting && moments.indexOf(each) > 2) ?? expect.fail('a moment');
    await withCopy(moment, async (at) => {
      const store = new DiskStore(join(at, 'store'));
      await store.open();
      const counted = store.pages.count();
      await store.pages.write(counted, Buffer.alloc(20 * PAGE_LENGTH, 7));
      await store.close();
      // Half of a page, as a power cut may leave.
      truncateSync(join(at, 'store', 'PAGES'), statSync(join(at, 'store', 'PAGES')).size - 500);
      const filling = await open(at, store);
      expect(filling.damage).to.equal(undefined);
      expect(store.pages.count()).to.equal(counted);
      await filling.close();
      expect(await expectToEndWell(at)).to.equal(undefined);
    });
  });

  it('is resumed where it was, at any moment', async () => {
    const found = new Set<string | undefined>();
    for (const moment of moments)
      await withCopy(moment, async (at) => {
        const progress = await progressAt(at);
        found.add(progress);
        // Without a record of the filling there is nothing to resume, or the index is complete.
        if (progress !== undefined) expect(await expectToEndWell(at)).to.equal(undefined);
      });
    expect([...found]).to.deep.equal([
      undefined,
      'partitioning nothing 0',
      'partitioning 11 0',
      'partitioning 23 0',
      'partitioning 35 0',
      ...[0, 1, 2, 3, 4].map((loaded) => `sorting ${BLOCKS} ${loaded}`)
    ]);
  });

  it('is never filled from files that were changed', async () => {
    const change = fc.record({
      moment: fc.nat(),
      file: fc.nat(),
      how: fc.constantFrom('flip', 'flip', 'cut', 'delete', 'append'),
      where: fc.nat()
    });
    for (const { moment, file, how, where } of fc.sample(change, { seed, numRuns: 25 * testScale() }))
      await withCopy(moments[moment % moments.length] as string, async (at) => {
        const files = join(at, 'files');
        const names = (await progressAt(at)) === undefined ? [] : readdirSync(files).filter((name) => statSync(join(files, name)).size > 0);
        const name = names[file % names.length];
        if (name === undefined) return;
        const path = join(files, name);
        if (how === 'flip') await flipBit(path, where);
        else if (how === 'cut') truncateSync(path, where % statSync(path).size);
        else if (how === 'delete') rmSync(path);
        else appendFileSync(path, Buffer.alloc((where % 100) + 1, where));
        // Bytes that do not count may be changed.
        await expectToEndWell(at);
      });
    // Before anything is sorted all of them count.
    await withCopy(sorting, async (at) => {
      const [name = expect.fail('a file')] = readdirSync(join(at, 'files')).filter((each) => statSync(join(at, 'files', each)).size > 0);
      truncateSync(join(at, 'files', name), statSync(join(at, 'files', name)).size - 1);
      expect(await expectToEndWell(at)).to.be.a('string');
    });
  });

  it('starts over with files of another filling', async () => {
    await withCopy(sorting, async (at) => {
      const other = join(folder, 'other');
      const store = new WatchedStore(join(other, 'store'));
      let copied = false;
      store.onBatch = async () => {
        // The lengths are the same by then.
        if (!copied && findFilling(store)?.step === 'sorting')
          await cp(join(other, 'files'), join(at, 'files'), { recursive: true, force: true });
        copied ||= findFilling(store)?.step === 'sorting';
      };
      await goOn(await open(other, store));
      expect(await expectToEndWell(at)).to.match(/damaged piece|bytes rather than|is cut off/);
    });
  });

  it('starts over when its store is damaged', async () => {
    await withCopy(moments[8] as string, async (at) => {
      rmSync(join(at, 'store', 'CURRENT'));
      expect(await expectToEndWell(at)).to.include('CURRENT is missing');
    });
  });

  it('ends when the disk is full, and is resumed when there is space again', async function () {
    if (!existsSync('/dev/full')) {
      if (process.env['CI'] === 'true') throw new Error('/dev/full is missing');
      console.log('      skipped: there is no /dev/full on this machine');
      this.skip();
    }
    const at = join(folder, 'full');
    // Which file a script's rows go into depends on the secret of the index.
    const paths = ['00000', '00001', '00002', '00003'].map((name) => join(at, 'files', `${name}.rows`));
    for (const last of [5, 30]) {
      const filling = await open(at);
      for (const block of blocks.slice((filling.progress.at?.height ?? -1) + 1, last)) await filling.take(block);
      for (const path of paths) {
        if (existsSync(path)) renameSync(path, `${path}.kept`);
        symlinkSync('/dev/full', path);
      }
      const error = await caught(goOn(filling));
      await filling.close();
      expect(error).to.include({ code: 'ENOSPC' });
      for (const path of paths) {
        rmSync(path);
        if (existsSync(`${path}.kept`)) renameSync(`${path}.kept`, path);
      }
    }
    expect(await progressAt(at)).to.equal('partitioning 23 0');
    expect(await expectToEndWell(at)).to.equal(undefined);
  });

  it('ends when its store cannot be written to, and is resumed when it can', async () => {
    const at = join(folder, 'faulty');
    for (let batch = 0; ; batch += 3) {
      await rm(at, { recursive: true, force: true });
      const store = new FaultyStore(new DiskStore(join(at, 'store')));
      store.fail('batch', batch, batch % 2 > 0);
      const error = await caught(open(at, store).then(goOn)).catch(() => undefined);
      await store.close();
      if (!store.hasFailed) {
        expect(batch, 'faults').to.be.above(0);
        return;
      }
      expect((error as Error).message).to.include(FAULT);
      expect(await expectToEndWell(at)).to.equal(undefined);
    }
  });

  it('starts over when txids are missing', async () => {
    await withCopy(sorting, async (at) => {
      truncateSync(join(at, 'store', 'PAGES'), 1.5 * PAGE_LENGTH);
      expect(await expectToEndWell(at)).to.equal('page 1 of the txids is missing');
    });
  });
});
