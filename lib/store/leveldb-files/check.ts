// Looks for damage in the files of a LevelDB before LevelDB opens them. LevelDB would skip damaged
// data, rewrite it as if it were right, or end the process: classic-level does not pass on the
// options that prevent this (paranoid_checks, verify_checksums). This is why this folder exists. All
// files in use are read, so that a store that opens holds what was written.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile, systemCodeOf } from '../../system/system-errors';
import { findLostWrites } from './log';
import { readManifest, type Manifest, type Table } from './manifest';
import { LevelFormatError } from './cursor';
import { checkTable } from './table';
import type { KeyRange, OpeningProgress } from '../store';

/** Tables that are read at the same time: while one is checked, the others wait for the disk. */
const TABLES_AT_ONCE = 4;

export interface LevelCheckOptions {
  /** Called for about every megabyte. */
  readonly onProgress: (progress: OpeningProgress) => void;
  readonly signal: AbortSignal;
  /** Only tables that may have keys in this range are read; the others only have to exist. Undefined: all are read. */
  readonly within: KeyRange | undefined;
}

/** The damage, with the name of the file; undefined: there is none. @throws the reason of an abort, and errors of the system. */
export async function findDamage(folder: string, options: LevelCheckOptions): Promise<string | undefined> {
  // If the folder is missing, is not a folder, or must not be read, opening the store reports that.
  const names = new Set(await readdir(folder).catch(() => []));
  if (!names.has('CURRENT')) {
    const left = [...names].find((name) => /\.(ldb|log)$/.test(name));
    return left && `CURRENT is missing beside ${left}`;
  }
  const manifest = await currentManifest(folder, names);
  if (typeof manifest === 'string') return manifest;
  return (await findLogDamage(folder, names, manifest)) ?? (await findTableDamage(folder, names, manifest, options));
}

interface NamedManifest extends Manifest {
  readonly name: string;
}

/** The manifest that CURRENT names, or what is wrong with one of the two. `names`: of the folder's files. @throws errors of the system. */
export async function currentManifest(folder: string, names: ReadonlySet<string>): Promise<NamedManifest | string> {
  let name = 'CURRENT';
  try {
    const current = await readFile(join(folder, name), 'latin1');
    const named = /^(MANIFEST-\d+)\n$/.exec(current)?.[1];
    if (named === undefined) return `CURRENT is damaged: expected the name of a manifest, got ${JSON.stringify(current.slice(0, 40))}`;
    if (!names.has(named)) return `${named}, which CURRENT names, is missing`;
    name = named;
    return { name, ...readManifest(await readFile(join(folder, name))) };
  } catch (error) {
    return damageOf(name, error);
  }
}

async function findLogDamage(folder: string, names: ReadonlySet<string>, { name, logNumber }: NamedManifest): Promise<string | undefined> {
  const numbers = new Map([...names].filter((name) => /^\d+\.log$/.test(name)).map((name) => [parseInt(name, 10), name]));
  // The manifest itself may be damaged: if its end is lost, it names an earlier log.
  if (logNumber !== 0 && !numbers.has(logNumber)) return `${fileName(logNumber, 'log')} is missing, and ${name} names it`;
  const inUse = [...numbers].filter(([number]) => number >= logNumber).sort(([a], [b]) => a - b);
  const logs = inUse.map(([, log]) => log);
  try {
    return await findLostWrites(folder, logs);
  } catch (error) {
    return damageOf(logs.join(', '), error);
  }
}

/** The first damage that is found; the other tables are then not read. */
async function findTableDamage(
  folder: string,
  names: ReadonlySet<string>,
  { tables }: Manifest,
  { onProgress, signal, within }: LevelCheckOptions
): Promise<string | undefined> {
  const missing = [...tables.keys()].map((number) => fileName(number, 'ldb')).find((name) => !names.has(name));
  if (missing !== undefined) return `${missing} is missing`;
  const read = [...tables].filter(([, table]) => within === undefined || overlaps(table, within));
  const total = bytesOf(read.map(([, table]) => table));
  let done = 0;
  let damage: string | undefined;
  const left = read.values();
  const checkSome = async (): Promise<void> => {
    for (const [number, { length }] of left) {
      const name = fileName(number, 'ldb');
      try {
        for await (const count of checkTable(join(folder, name), length)) {
          signal.throwIfAborted();
          onProgress({ done: (done += count), total });
        }
      } catch (error) {
        damage ??= damageOf(name, error);
      }
      if (damage !== undefined) return;
    }
  };
  await Promise.all(Array.from({ length: TABLES_AT_ONCE }, checkSome));
  return damage;
}

/** The damage to a file, with its name. @throws `error` if it does not mean damage */
export function damageOf(name: string, error: unknown): string {
  if (error instanceof LevelFormatError || isUnreadable(error)) return `${name}: ${error.message}`;
  throw error;
}

/** A bad sector, or a file that was deleted during the check. */
function isUnreadable(error: unknown): error is Error {
  return systemCodeOf(error) === 'EIO' || isMissingFile(error);
}

export function bytesOf(tables: Iterable<Table>): number {
  let bytes = 0;
  for (const { length } of tables) bytes += length;
  return bytes;
}

const overlaps = ({ smallest, largest }: Table, { gte, lt }: KeyRange): boolean => smallest.compare(lt) < 0 && largest.compare(gte) >= 0;

/** As LevelDB names its files: `000005.ldb`. */
export function fileName(number: number, kind: 'ldb' | 'log'): string {
  return `${String(number).padStart(6, '0')}.${kind}`;
}
