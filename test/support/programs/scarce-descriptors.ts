// A process that opens a store when it has no file descriptor left, and has them again a moment later.
//
//   scarce-descriptors.ts <folder>

import { closeSync, openSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { DiskStore } from '../../../lib/store/disk-store';
import { StoreError } from '../../../lib/store/errors';

function takeAll(): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    return taken;
  }
}

async function main(): Promise<void> {
  const [folder = ''] = process.argv.slice(2);
  const store = new DiskStore(folder);
  const taken = takeAll();
  const opening = store.open().then(
    () => 'open',
    (error: unknown) => (error instanceof StoreError ? `${error.reason}: ${error.message}` : String(error))
  );
  // It fails after the store has tried the same.
  await readdir(folder).catch(() => undefined);
  for (const descriptor of taken) closeSync(descriptor);
  console.log(await opening);
  await store.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
