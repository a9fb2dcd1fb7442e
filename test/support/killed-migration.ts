// A process to be killed: migrates the index in a folder, and says by messages how far it is.
//
//   killed-migration.ts <folder>

import { LAYOUT_VERSION } from '../../lib/index/layout';
import { diskStore } from '../../lib/store/level-store';
import { migrate } from '../../lib/store/migrate';
import { migrations } from '../../migrations';

/** A part of the way through all migrations, 0 to 1. */
export type KilledMigrationMessage = number;

async function main(): Promise<void> {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('expected <folder>');
  const store = diskStore(folder);
  await store.open();
  let begun = 0;
  await migrate(store, migrations, {
    version: LAYOUT_VERSION,
    onStep: () => { begun++; },
    onProgress: ({ part }) => { process.send?.((begun - 1 + part) / migrations.length); }
  });
  await store.close();
  process.disconnect();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
