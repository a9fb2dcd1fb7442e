import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { LayoutVersionError, StoreError } from '../../lib/store/errors';
import { MemoryStore } from '../../lib/store/memory-store';
import { LAYOUT_VERSION_KEY, migrate, storedVersion, versionRecord, type Migration } from '../../lib/store/migrate';
import { migrations } from '../../migrations';
import { caught } from '../support/expectations/caught';
import { FaultyStore } from '../support/index/faulty-store';
import { fillWithMadeUpRecords, MADE_UP_VERSION, madeUpMigrations } from '../support/index/made-up-migrations';
import { imageOf } from '../support/index/utxo-model';
import type { Store } from '../../lib/store/store';

const key = Buffer.from('k');

/** Appends its letter to the record under `k`. */
const appending = (from: number, letter: string): Migration => ({
  from,
  to: from + 1,
  info: `adds ${letter}`,
  migrate: (store) =>
    Promise.resolve([{ type: 'put', key, value: Buffer.concat([store.get(key) ?? Buffer.alloc(0), Buffer.from(letter)]) }])
});

describe('migrating a store', () => {
  let store: Store;
  const record = (): string | undefined => store.get(key)?.toString();
  const version = (): number | undefined => store.get(LAYOUT_VERSION_KEY)?.readUInt32BE();

  beforeEach(async () => {
    store = new MemoryStore();
    await store.open();
  });
  afterEach(() => store.close());

  it('stamps an empty store with the version and runs nothing', async () => {
    await migrate(store, [appending(1, 'a')], { version: 2 });
    expect(version()).to.equal(2);
    expect(record()).to.equal(undefined);
  });

  it('leaves a store of the same version alone', async () => {
    await migrate(store, [], { version: 2 });
    await migrate(store, [appending(1, 'a'), appending(2, 'b')], { version: 2 });
    expect(record()).to.equal(undefined);
  });

  it('runs the migrations in order up to the version, whatever their order in the list', async () => {
    await migrate(store, [], { version: 1 });
    const steps: string[] = [];
    await migrate(store, [appending(2, 'b'), appending(1, 'a'), appending(3, 'c')], { version: 3, onStep: ({ info }) => steps.push(info) });
    expect(record()).to.equal('ab');
    expect(version()).to.equal(3);
    expect(steps).to.deep.equal(['adds a', 'adds b']);
  });

  it('runs no migration that leads beyond the version', async () => {
    await migrate(store, [], { version: 1 });
    const beyond: Migration = { ...appending(1, 'b'), to: 3 };
    expect(await caught(migrate(store, [beyond], { version: 2 }))).to.be.instanceOf(LayoutVersionError);
    await migrate(store, [beyond, appending(1, 'a')], { version: 2 });
    expect(record()).to.equal('a');
  });

  it('resumes where it was interrupted', async () => {
    await migrate(store, [], { version: 1 });
    const failing: Migration = { from: 2, to: 3, info: 'fails', migrate: () => Promise.reject(new Error('power cut')) };
    expect(await caught(migrate(store, [appending(1, 'a'), failing], { version: 3 }))).to.have.property('message', 'power cut');
    expect(version()).to.equal(2);
    await migrate(store, [appending(1, 'a'), appending(2, 'b')], { version: 3 });
    expect(record()).to.equal('ab');
  });

  it('has the same result after an interruption at any write, whether this write was still done or not', async () => {
    const toNewest = (migrated: Store): Promise<void> => migrate(migrated, madeUpMigrations, { version: MADE_UP_VERSION });
    const migratedImage = async (use: (store: FaultyStore) => Promise<void>): Promise<string[]> => {
      const real = new MemoryStore();
      await real.open();
      await fillWithMadeUpRecords(real, 900);
      await real.batch([versionRecord(1)], { durable: false });
      await use(new FaultyStore(real));
      const image = await imageOf(real);
      await real.close();
      return image;
    };
    const expected = await migratedImage(toNewest);
    expect(expected.filter((line) => line.startsWith(Buffer.from('c').toString('hex')))).to.have.lengthOf(900);
    for (const afterwards of [false, true]) {
      let writes = 0;
      await migratedImage(async (faulty) => {
        await toNewest(faulty);
        writes = faulty.calls.batch;
      });
      for (let n = 0; n < writes; n++) {
        expect(
          await migratedImage(async (faulty) => {
            faulty.fail('batch', n, afterwards);
            expect(await caught(toNewest(faulty)), `write ${n}`).to.be.instanceOf(StoreError);
            faulty.heal();
            await toNewest(faulty);
          }),
          `write ${n}`
        ).to.deep.equal(expected);
      }
    }
  });

  it('refuses a newer layout and says which', async () => {
    await migrate(store, [], { version: 7 });
    expect(await caught(migrate(store, [], { version: 1 })))
      .to.be.instanceOf(LayoutVersionError)
      .with.property('message', 'the index has layout 7, made by a newer version of this program, which reads up to layout 1');
  });

  it('refuses a layout for which there is no migration', async () => {
    await migrate(store, [], { version: 1 });
    expect(await caught(migrate(store, [appending(2, 'b')], { version: 3 }))).to.be.instanceOf(LayoutVersionError);
    expect(version()).to.equal(1);
  });

  it('reads versions as they have been written ever since, with the CRC-32 of their key and them', async () => {
    await store.batch([{ type: 'put', key: LAYOUT_VERSION_KEY, value: Buffer.from('00000007584662be', 'hex') }], { durable: false });
    expect(await storedVersion(store)).to.equal(7);
  });

  it('has what it has done on the disk before it goes on', async () => {
    const durable: boolean[] = [];
    class NotingStore extends MemoryStore {
      override batch(...[writes, options]: Parameters<MemoryStore['batch']>): Promise<void> {
        durable.push(options.durable);
        return super.batch(writes, options);
      }
    }
    const noting = new NotingStore();
    await noting.open();
    await migrate(noting, [], { version: 1 });
    await migrate(noting, [appending(1, 'a'), appending(2, 'b')], { version: 3 });
    expect(durable).to.deep.equal([true, true, true]);
    await noting.close();
  });

  it('reports data without a version as damaged', async () => {
    await store.batch([{ type: 'put', key, value: key }], { durable: false });
    expect(await caught(migrate(store, [], { version: 1 })))
      .to.be.instanceOf(StoreError)
      .with.property('reason', 'corrupt');
  });

  it('reports a version with any bit flipped as damaged, not as a newer one', async () => {
    for (const right of [1, 2, 3]) {
      await store.batch([versionRecord(right)], { durable: false });
      const value = store.get(LAYOUT_VERSION_KEY) ?? expect.fail('a version');
      for (let bit = 0; bit < value.length * 8; bit++) {
        const flipped = Buffer.from(value);
        flipped[bit >> 3] = flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7));
        await store.batch([{ type: 'put', key: LAYOUT_VERSION_KEY, value: flipped }], { durable: false });
        expect(await caught(migrate(store, [], { version: right })), `bit ${bit}`)
          .to.be.instanceOf(StoreError)
          .with.property('reason', 'corrupt');
      }
    }
  });

  it('knows migrations that lead from each layout to the next without a gap', () => {
    expect(migrations.map(({ from, to }) => [from, to])).to.deep.equal(migrations.map((_, i) => [i + 1, i + 2]));
  });
});
