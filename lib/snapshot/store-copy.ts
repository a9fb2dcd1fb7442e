// Copies the files of a store that another process may have open and write to. LevelDB's tables never change, so links are copies; what
// changes is copied in an order in which each file has all that the earlier ones need. What LevelDB deletes meanwhile is missing from the
// copy: the check of all files before a store is opened finds that, and then the copy is made again. Tables that the copied manifest does
// not know are taken out before: their numbers are free for the copy's LevelDB, which would write into the original's file.

import { constants, copyFile as copyBytes, link, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { writePrivate } from '../system/private-file';
import { isMissingFile } from '../system/system-errors';
import { isDamage } from '../follow/errors';
import { DiskStore } from '../store/disk-store';
import { currentManifest, fileName } from '../store/leveldb-files/check';
import { messageOf } from '../system/error-text';
import { SnapshotError } from './errors';
import type { OpeningProgress, Store } from '../store/store';

/** How often a copy is made before the store counts as damaged, and the pause between two times. */
const MOST_TIMES = 20;
const PAUSE_MS = 200;

/** Files that LevelDB makes anew at each start. */
const LEFT_OUT = ['LOCK', 'LOG', 'LOG.old'];

/**
 * Copies a store, and has `inspect` look at the copy, which it may refuse as damaged as the store itself does. The copy is then closed.
 * @throws SnapshotError, what `inspect` throws beside damage, and errors of the system
 */
export async function copyStore<T>(from: string, to: string, { inspect, onProgress, signal }: CopyOptions<T>): Promise<T> {
  let damage: unknown;
  for (let time = 0; time < MOST_TIMES; time++) {
    signal.throwIfAborted();
    if (time > 0) await setTimeout(PAUSE_MS, undefined, { signal });
    await rm(to, { recursive: true, force: true });
    await mkdir(to, { recursive: true, mode: 0o700 });
    const store = new DiskStore(to);
    try {
      await copyFiles(from, to);
      await dropUnknownTables(to);
      await store.open(onProgress);
      return await inspect(store);
    } catch (error) {
      if (!isDamage(error) && !isMissingFile(error)) throw error;
      damage = error;
    } finally {
      await store.close();
      for (const name of LEFT_OUT) await rm(join(to, name), { force: true });
    }
  }
  throw new SnapshotError(`${from} is damaged, or changes faster than it can be copied: ${messageOf(damage)}`, {
    cause: damage
  });
}

export interface CopyOptions<T> {
  readonly inspect: (copy: Store) => Promise<T>;
  readonly onProgress: (progress: OpeningProgress) => void;
  readonly signal: AbortSignal;
}

/** @throws errors of the system, ENOENT for a file that was deleted meanwhile */
async function copyFiles(from: string, to: string): Promise<void> {
  await linkTables(from, to);
  const current = await readFile(join(from, 'CURRENT'));
  const manifest = current.toString('latin1').trim();
  if (!/^MANIFEST-\d+$/.test(manifest)) return; // the check of the copy says so
  await copyFile(join(from, manifest), join(to, manifest));
  await writePrivate(join(to, 'CURRENT'), current);
  const names = await readdir(from);
  // Writes go to the last log.
  for (const name of names.filter((each) => each.endsWith('.log')).sort(byNumber)) await copyFile(join(from, name), join(to, name));
  // A page is written before the record that counts it.
  if (names.includes('PAGES')) await copyFile(join(from, 'PAGES'), join(to, 'PAGES'));
  await linkTables(from, to);
}

async function linkTables(from: string, to: string): Promise<void> {
  const there = new Set(await readdir(to));
  for (const name of await readdir(from)) if (name.endsWith('.ldb') && !there.has(name)) await linkTable(join(from, name), join(to, name));
}

/** A manifest that cannot be read is left to the check of the copy, before which LevelDB writes nothing. */
async function dropUnknownTables(folder: string): Promise<void> {
  const manifest = await currentManifest(folder);
  if (typeof manifest === 'string') return;
  const known = new Set(Array.from(manifest.tables.keys(), (number) => fileName(number, 'ldb')));
  for (const name of await readdir(folder)) if (name.endsWith('.ldb') && !known.has(name)) await rm(join(folder, name));
}

/** A table that is deleted meanwhile may not be needed any more. */
async function linkTable(from: string, to: string): Promise<void> {
  try {
    await link(from, to).catch((error: unknown) => {
      // Another file system, or one without links.
      if (isMissingFile(error)) throw error;
      return copyFile(from, to);
    });
  } catch (error) {
    if (!isMissingFile(error)) throw error;
  }
}

/** Shares the bytes where the file system can. */
const copyFile = (from: string, to: string): Promise<void> => copyBytes(from, to, constants.COPYFILE_FICLONE);

const byNumber = (a: string, b: string): number => parseInt(a, 10) - parseInt(b, 10);
