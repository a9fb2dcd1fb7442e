// Checks the tables of an open LevelDB, which would not notice data that rots on the disk or in the
// system's page cache. Tables never change once they are written, but appear and disappear during the
// check, as LevelDB merges them.

import { join } from 'node:path';
import { bytesOf, currentManifest, damageOf, fileName } from './check';
import { checkTable } from './table';
import type { Manifest } from './manifest';
import type { ScrubbedPart } from '../store';

/**
 * One pass, in the order in which the tables were written, so that it also reaches tables written meanwhile. It continues when
 * the next part is asked for. `others`: bytes of other files that the pass reads. Returns the damage, with the name of the file;
 * undefined: there is none. The result means nothing if the LevelDB was closed meanwhile.
 * @throws errors of the system.
 */
export async function* scrubTables(folder: string, others: () => number): AsyncGenerator<ScrubbedPart, string | undefined> {
  for (let last = 0; ;) {
    const tables = await tablesInUse(folder);
    if (typeof tables === 'string') return tables;
    const number = Math.min(...[...tables.keys()].filter((candidate) => candidate > last));
    const table = tables.get(number);
    if (table === undefined) return undefined;
    const total = bytesOf(tables.values()) + others();
    const name = fileName(number, 'ldb');
    try {
      for await (const count of checkTable(join(folder, name), table)) yield { count, total };
    } catch (error) {
      if (await isInUse(folder, number)) return damageOf(name, error);
    }
    last = number;
  }
}

/** False: LevelDB has merged and deleted the table. */
async function isInUse(folder: string, number: number): Promise<boolean> {
  const tables = await tablesInUse(folder);
  return typeof tables === 'string' || tables.has(number);
}

/** The tables by their numbers, or the damage to the manifest, which stays the same while LevelDB is open. */
async function tablesInUse(folder: string): Promise<Manifest['tables'] | string> {
  const manifest = await currentManifest(folder);
  return typeof manifest === 'string' ? manifest : manifest.tables;
}
