// How large the tables of a LevelDB are to be. LevelDB has the thousand tables open that were read last:
// of more, most lookups of a key that may be anywhere open a table first, which takes longer than the
// lookup itself. So tables grow with the store, and their number stays.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** LevelDB deletes tables that were merged while everybody waits: the smaller they are, the shorter. */
const LEAST_BYTES = 2 * 1024 * 1024;
/** The largest that LevelDB makes. */
const MOST_BYTES = 1024 * 1024 * 1024;
/** Leaves room for the tables of before, which get larger only when they are merged. */
const TABLES = 600;

/** Bytes that a table has at most in a store of so many bytes: a power of two. */
export function tableBytes(storeBytes: number): number {
  let bytes = LEAST_BYTES;
  while (bytes < MOST_BYTES && bytes * TABLES < storeBytes) bytes *= 2;
  return bytes;
}

/** Of all tables in a folder together; 0 when it is not there. */
export async function bytesOfTables(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(names.filter((name) => name.endsWith('.ldb')).map((name) => sizeOf(join(folder, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Whoever has the store open deletes tables at any time. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(({ size }) => size, () => 0);
}
