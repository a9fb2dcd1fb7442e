import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { firstDifference } from '../../lib/store/compare';
import { DiskStore } from '../../lib/store/disk-store';
import { migrate, storedVersion, versionRecord } from '../../lib/store/migrate';
import { newFolder } from '../support/process/folders';
import { KilledChild } from '../support/process/killed-child';
import { fillWithMadeUpRecords, MADE_UP_VERSION, madeUpMigrations } from '../support/index/made-up-migrations';
import { testScale, testSeed } from '../support/process/scale';
import type { KilledMigrationMessage } from '../support/programs/killed-migration';
import type { Store } from '../../lib/store/store';

const KILLS = 3;
/** Enough records for kills at any point of the migrations, which take 302 steps. */
const RECORDS = 30_000;
const STEPS = 302;

/** When a migration is killed: some time after a number of steps. */
interface Moment {
  readonly steps: number;
  readonly ms: number;
}

const moment: fc.Arbitrary<Moment> = fc.record({ steps: fc.integer({ min: 1, max: STEPS - 20 }), ms: fc.integer({ min: 0, max: 20 }) });

describe('a migration that is killed', function () {
  const seed = testSeed();
  const kills = KILLS * testScale();
  this.timeout(300_000 * testScale());
  let folder: string;
  let undisturbed: Store;
  const close: (() => Promise<void>)[] = [];

  async function opened(name: string): Promise<Store> {
    const store = new DiskStore(join(folder, name));
    await store.open();
    close.push(() => store.close());
    return store;
  }

  before(async () => {
    folder = await newFolder();
    const store = new DiskStore(join(folder, 'layout-1'));
    await store.open();
    await fillWithMadeUpRecords(store, RECORDS);
    await store.batch([versionRecord(1)], { durable: true });
    await store.close();
    await cp(join(folder, 'layout-1'), join(folder, 'undisturbed'), { recursive: true });
    undisturbed = await opened('undisturbed');
    await toNewest(undisturbed);
  });

  after(async () => {
    for (const closeOne of close) await closeOne();
  });

  const toNewest = (store: Store): Promise<void> => migrate(store, madeUpMigrations, { version: MADE_UP_VERSION });

  /** False: the migration was over before. */
  async function killAt(name: string, { steps, ms }: Moment): Promise<boolean> {
    const child = new KilledChild('killed-migration', [join(folder, name)]);
    await child.said((reached) => (reached as KilledMigrationMessage) >= steps);
    return child.kill(ms);
  }

  it(`is resumed, and ends with the same bytes as one that was never killed: ${kills} kills, TEST_SEED=${seed}`, async () => {
    const layouts = new Set<number | undefined>();
    for (const [turn, when] of fc.sample(moment, { seed, numRuns: kills }).entries()) {
      const name = `killed-${turn}`;
      // A kill that comes too late is tried again.
      for (let { steps } = when; ; steps = Math.floor(steps * 0.9)) {
        await cp(join(folder, 'layout-1'), join(folder, name), { recursive: true });
        if (await killAt(name, { ...when, steps })) break;
        await rm(join(folder, name), { recursive: true });
      }
      // Every other migration is killed twice.
      if (turn % 2 === 1) await killAt(name, { steps: 1, ms: when.ms });
      const store = await opened(name);
      layouts.add(await storedVersion(store));
      await toNewest(store);
      expect(await storedVersion(store)).to.equal(MADE_UP_VERSION);
      expect(await firstDifference(undisturbed, store, { onRecord: () => undefined }), `killed after ${when.steps} steps`).to.equal(
        undefined
      );
      await close.pop()?.();
      await rm(join(folder, name), { recursive: true });
    }
    console.log(`      left at layouts ${[...layouts].sort().join(', ')}`);
  });
});
