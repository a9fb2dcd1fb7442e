// A process to be killed: migrates the index in a folder, and reports its progress by messages.
//
//   killed-migration.ts <folder>

import { DiskStore } from '../../../lib/store/disk-store';
import { migrate } from '../../../lib/store/migrate';
import { MADE_UP_VERSION, madeUpMigrations } from '../index/made-up-migrations';

/** Steps done so far. */
export type KilledMigrationMessage = number;

async function main(): Promise<void> {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('expected <folder>');
  const store = new DiskStore(folder);
  await store.open();
  let steps = 0;
  await migrate(store, madeUpMigrations, {
    version: MADE_UP_VERSION,
    onProgress: () => {
      process.send?.(++steps);
    }
  });
  await store.close();
  process.disconnect();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
