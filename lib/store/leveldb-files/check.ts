// Looks for damage in the files of a LevelDB before LevelDB opens them. LevelDB would skip damaged
// data, rewrite it as if it were right, or end the process: classic-level does not pass on the
// options that prevent this (paranoid_checks, verify_checksums). This is why this folder exists. All
// files in use are read, so that a store that opens holds what was written.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile, systemCodeOf } from '../../system/system-errors';
import { findLostWrites, MOST_LOG_BYTES, readWhole } from './log';
import { readManifest, userKey, type Manifest, type Table } from './manifest';
import { LevelFormatError } from './cursor';
import { checkTable } from './table';
import type { KeyRange, OpeningProgress } from '../store';

/** Tables that are read at the same time: while one is checked, the others wait for the disk. */
const TABLES_AT_ONCE = 4;
/** More than the name of a manifest takes. */
const MOST_CURRENT_BYTES = 100;

export interface LevelCheckOptions {
  /** Called for about every megabyte. */
  readonly onProgress: (progress: OpeningProgress) => void;
  readonly signal: AbortSignal;
  /** Only tables that may have keys in this range are read; the others only have to exist. Undefined: all are read. */
  readonly within: KeyRange | undefined;
}

/** The damage, with the name of the file; undefined: there is none. @throws the reason of an abort, and errors of the system. */
export async function findDamage(folder: string, options: LevelCheckOptions): Promise<string | undefined> {
  const names = new Set(await namesIn(folder));
  if (!names.has('CURRENT')) {
    const left = [...names].find((name) => /\.(ldb|log)$/.test(name));
    return left && `CURRENT is missing beside ${left}`;
  }
  const manifest = await currentManifest(folder);
  if (typeof manifest === 'string') return manifest;
  return (await findLogDamage(folder, names, manifest)) ?? (await findTableDamage(folder, names, manifest, options));
}

/** None if there is no such folder. @throws other errors of the system: LevelDB might open the files all the same, without a check */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissingFile(error)) return [];
    throw error;
  }
}

interface NamedManifest extends Manifest {
  readonly name: string;
}

/** The manifest that CURRENT names, or what is wrong with one of the two. @throws errors of the system. */
export async function currentManifest(folder: string): Promise<NamedManifest | string> {
  let name = 'CURRENT';
  try {
    const current = (await readWhole(join(folder, name), MOST_CURRENT_BYTES)).toString('latin1');
    const named = /^(MANIFEST-\d+)\n$/.exec(current)?.[1];
    if (named === undefined) return `CURRENT is damaged: expected the name of a manifest, got ${JSON.stringify(current.slice(0, 40))}`;
    name = named;
    return { name, ...readManifest(await readWhole(join(folder, name), MOST_LOG_BYTES)) };
  } catch (error) {
    // Either of the two may be damaged: CURRENT with another digit names a manifest that never was.
    if (name !== 'CURRENT' && isMissingFile(error)) return `${name} is missing, and CURRENT names it`;
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
  const left = [...read];
  const checkSome = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [number, table] = next;
      const name = fileName(number, 'ldb');
      try {
        for await (const count of checkTable(join(folder, name), table)) {
          signal.throwIfAborted();
          onProgress({ done: (done += count), total });
        }
      } catch (error) {
        left.length = 0;
        damage ??= damageOf(name, error);
      }
    }
  };
  // All are awaited: none may have a file open when this has ended.
  const checks = await Promise.allSettled(Array.from({ length: TABLES_AT_ONCE }, checkSome));
  for (const check of checks) if (check.status === 'rejected') throw check.reason;
  return damage;
}

/** The damage to a file, with its name. @throws `error` if it does not mean damage */
export function damageOf(name: string, error: unknown): string {
  if (error instanceof LevelFormatError || isUnreadable(error)) return `${name}: ${error.message}`;
  throw error;
}

/** A bad sector, or a file that is missing, maybe only since the check began. */
function isUnreadable(error: unknown): error is Error {
  return systemCodeOf(error) === 'EIO' || isMissingFile(error);
}

/** What tables add up to. */
export function bytesOf(tables: Iterable<Table>): number {
  let bytes = 0;
  for (const { length } of tables) bytes += length;
  return bytes;
}

const overlaps = ({ smallest, largest }: Table, { gte, lt }: KeyRange): boolean =>
  userKey(smallest).compare(lt) < 0 && userKey(largest).compare(gte) >= 0;

/** As LevelDB names its files: `000005.ldb`. */
export function fileName(number: number, kind: 'ldb' | 'log'): string {
  return `${String(number).padStart(6, '0')}.${kind}`;
}
