// How many bytes the files of a folder have. Counted at most once a minute, since a store has thousands of files.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const KEPT_MS = 60_000;

const known = new Map<string, { readonly at: number; readonly bytes: Promise<number> }>();

/** 0 for a folder that does not exist. */
export function folderBytes(path: string): Promise<number> {
  const before = known.get(path);
  if (before !== undefined && performance.now() - before.at < KEPT_MS) return before.bytes;
  const bytes = count(path);
  known.set(path, { at: performance.now(), bytes });
  return bytes;
}

async function count(path: string): Promise<number> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  // One after the other: nobody waits for it but the scrape.
  for (const entry of entries) {
    const inside = join(path, entry.name);
    // Files that are gone meanwhile have no size.
    bytes += entry.isDirectory()
      ? await count(inside)
      : await stat(inside).then(
          ({ size }) => size,
          () => 0
        );
  }
  return bytes;
}
