import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { StoreError } from '../../lib/store/errors';
import { MemoryStore } from '../../lib/store/memory-store';
import { caught } from '../support/expectations/caught';
import { flipBit } from '../support/index/flipped-bit';
import { newFolder } from '../support/process/folders';
import { MergingStore } from '../support/index/merging-store';
import { testSeed } from '../support/process/scale';
import type { ScrubbedPart, Store, StoreWrite } from '../../lib/store/store';

const RECORDS = 2_000;
/** Its padding may be anything. */
const FOOTER_BYTES = 48;

function records(count = RECORDS): StoreWrite[] {
  const key = (): Buffer => Buffer.concat([Buffer.from('k'), randomBytes(12)]);
  return Array.from({ length: count }, () => ({ type: 'put', key: key(), value: randomBytes(500) }));
}

async function pass(store: Store): Promise<ScrubbedPart[]> {
  const parts: ScrubbedPart[] = [];
  for await (const part of store.scrub()) parts.push(part);
  return parts;
}

/** A store that was closed meanwhile, or opened again, is not called damaged. */
function expectInterrupted(error: unknown): void {
  expect(error).to.be.instanceOf(StoreError).with.property('reason', 'closed');
}

describe('scrubbing the files of an open store', () => {
  let folder: string;
  let store: MergingStore;

  beforeEach(async () => {
    folder = await newFolder();
    store = new MergingStore(folder);
    await store.open();
    for (let table = 0; table < 3; table++) {
      await store.batch(records(), { durable: false });
      // Moves the writes into a table.
      await store.close();
      await store.open();
    }
  });
  afterEach(() => store.close());

  const tables = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.endsWith('.ldb')).sort();

  it('reads every byte except the footers, and reports nothing for sound files', async () => {
    const names = await tables();
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    const all = sizes.reduce((sum, size) => sum + size, 0);
    const parts = await pass(store);
    expect(names).to.have.length(3);
    expect(parts.reduce((sum, { count }) => sum + count, 0)).to.equal(all - names.length * FOOTER_BYTES);
    for (const { total } of parts) expect(total).to.equal(all);
  });

  const seed = testSeed();
  it(`finds a flipped bit, and names the file, TEST_SEED=${seed}`, async () => {
    for (const [which, pick] of fc.sample(fc.tuple(fc.nat(), fc.nat()), { seed, numRuns: 30 })) {
      const names = await tables();
      const name = names[which % names.length] ?? expect.fail('a table');
      const path = join(folder, name);
      const inBlocks = pick % (((await stat(path)).size - FOOTER_BYTES) * 8);
      await flipBit(path, inBlocks);
      const error = await caught(pass(store));
      expect(error).to.be.instanceOf(StoreError).with.property('reason', 'corrupt');
      expect((error as Error).message).to.include(`${name}: `);
      await flipBit(path, inBlocks);
      expect(await pass(store)).to.have.length.above(0);
    }
  });

  it('finds a table that is missing', async () => {
    const [, name = ''] = await tables();
    await rm(join(folder, name));
    expect(await caught(pass(store)))
      .to.be.instanceOf(StoreError)
      .with.property('reason', 'corrupt');
  });

  it('finds a manifest that is damaged or missing', async () => {
    const current = (await readFile(join(folder, 'CURRENT'), 'latin1')).trim();
    for (const change of [(path: string) => flipBit(path, 100), (path: string) => rm(path)]) {
      await change(join(folder, current));
      const error = await caught(pass(store));
      expect(error).to.be.instanceOf(StoreError).with.property('reason', 'corrupt');
      expect((error as Error).message).to.include(current);
    }
  });

  /** The results of passes, several at a time, while something else happens. */
  async function passesWhile(goesOn: () => Promise<unknown>): Promise<void> {
    let isOver = false;
    const passes = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) {
          await pass(store).catch(expectInterrupted);
          await setImmediate();
        }
      })
    );
    try {
      await Promise.race([goesOn(), passes]);
    } finally {
      isOver = true;
    }
    await passes;
  }

  it('does not report tables that come and go as the store merges them', async () => {
    await passesWhile(async () => {
      for (let round = 0; round < 20; round++) {
        await store.batch(records(100), { durable: false });
        await store.merge(Buffer.from('k'), Buffer.from('l'));
      }
    });
    expect(await pass(store)).to.have.length.above(0);
  });

  it('does not report missing files while the store is cleared, closed or reopened for another use', async () => {
    await passesWhile(async () => {
      for (let round = 0; round < 5; round++) {
        await store.clear();
        await store.batch(records(), { durable: false });
        await store.prepareFor(round % 2 === 0 ? 'catching-up' : 'following');
        await store.close();
        await store.open();
      }
    });
    expect(await pass(store)).to.have.length.above(0);
  });

  it('ends with an error if it finds damage after the store was opened again for another use', async () => {
    const [, name = ''] = await tables();
    await flipBit(join(folder, name), 100);
    const parts = store.scrub();
    await parts.next();
    await store.prepareFor('catching-up');
    const readOn = async (): Promise<void> => {
      while ((await parts.next()).done !== true);
    };
    expectInterrupted(await caught(readOn()));
    expect(await caught(pass(store)))
      .to.be.instanceOf(StoreError)
      .with.property('reason', 'corrupt');
  });

  it('has nothing to read in a store that is closed, empty or in memory', async () => {
    await store.clear();
    expect(await pass(store)).to.deep.equal([]);
    await store.close();
    expect(await pass(store)).to.deep.equal([]);
    const memory = new MemoryStore();
    await memory.open();
    await memory.batch(records(), { durable: false });
    expect(await pass(memory)).to.deep.equal([]);
    await memory.close();
  });
});
