// A process to be killed: migrates the index in a folder, and says by messages how far it is.
//
//   killed-migration.ts <folder>

import { LAYOUT_VERSION } from '../../lib/index/layout';
import { diskStore } from '../../lib/store/level-store';
import { migrate } from '../../lib/store/migrate';
import { migrations } from '../../migrations';

/** A part of the way, 0 to 1. */
export type KilledMigrationMessage = number;

async function main(): Promise<void> {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('expected <folder>');
  const store = diskStore(folder);
  await store.open();
  await migrate(store, migrations, { version: LAYOUT_VERSION, onProgress: ({ part }) => { process.send?.(part); } });
  await store.close();
  process.disconnect();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
