// A process that uses a store, to be watched at what it has the system write to the disk itself.
//
//   syncing-store.ts <folder> <use>...

import { DiskStore } from '../../../lib/store/disk-store';
import { PAGE_LENGTH } from '../../../lib/store/pages';
import type { StorePut } from '../../../lib/store/store';

const RECORD: StorePut = { type: 'put', key: Buffer.from('k'), value: Buffer.from('v') };

const USES = {
  batch: (store) => store.batch([RECORD], { durable: false }),
  'durable batch': (store) => store.batch([RECORD], { durable: true }),
  pages: (store) => store.pages.write(0, Buffer.alloc(PAGE_LENGTH)),
  sync: (store) => store.pages.sync()
} satisfies Readonly<Record<string, (store: DiskStore) => Promise<void>>>;

export type StoreUsed = keyof typeof USES;

async function main(): Promise<void> {
  const [folder = '', ...uses] = process.argv.slice(2);
  const store = new DiskStore(folder);
  await store.open();
  for (const use of uses) await USES[use as StoreUsed](store); // the test names no others
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
