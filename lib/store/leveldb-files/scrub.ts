// Looks through the tables of a LevelDB that is open: LevelDB would not notice what rots on the disk, or in the
// pages of it that the system has in memory. Tables never change once they are written, but come and go
// meanwhile, as LevelDB merges them.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { currentManifest, damageOf, fileName } from './check';
import { checkTable } from './table';
import type { ScrubbedPart } from '../store';

/**
 * One pass, in the order in which the tables were written: those that come meanwhile are still met. Goes on when
 * asked for the next part. Returns what is wrong, with the name of the file; undefined: nothing. What
 * it says of files that were taken away or given to another LevelDB meanwhile means nothing.
 * @throws errors of the system.
 */
export async function* scrubTables(folder: string): AsyncGenerator<ScrubbedPart, string | undefined> {
  for (let last = 0; ;) {
    const tables = await tablesInUse(folder);
    if (typeof tables === 'string') return tables;
    const number = Math.min(...[...tables.keys()].filter((candidate) => candidate > last));
    const length = tables.get(number);
    if (length === undefined) return undefined;
    const total = [...tables.values()].reduce((sum, bytes) => sum + bytes, 0);
    const name = fileName(number, 'ldb');
    try {
      for await (const count of checkTable(join(folder, name), length)) yield { count, total };
    } catch (error) {
      if (await isInUse(folder, number, length)) return damageOf(name, error);
    }
    last = number;
  }
}

/** LevelDB deletes what it has merged. */
async function isInUse(folder: string, number: number, length: number): Promise<boolean> {
  const tables = await tablesInUse(folder);
  return typeof tables === 'string' || tables.get(number) === length;
}

/** Lengths of the tables by their numbers; or what is wrong with the file that says so. */
async function tablesInUse(folder: string): Promise<ReadonlyMap<number, number> | string> {
  for (let isFirst = true; ; isFirst = false) {
    const names = new Set(await readdir(folder));
    const manifest = names.has('CURRENT') ? await currentManifest(folder, names) : 'CURRENT is missing';
    if (typeof manifest !== 'string') return manifest.tables;
    // LevelDB begins another manifest and deletes the one before when it is opened, perhaps between the two reads.
    if (!isFirst) return manifest;
  }
}
