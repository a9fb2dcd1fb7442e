// Folders of data that are made once and read from then on.

import { mkdirSync, renameSync, rmSync } from 'node:fs';

export interface Making<T> {
  /** undefined: there is nothing in the folder, or nothing that can be used. */
  readonly read: (folder: string) => T | undefined;
  /** Gets an empty folder. */
  readonly make: (folder: string) => Promise<unknown>;
  readonly report: (line: string) => void;
}

/** What is in `folder`; made if it does not exist. The folder has this name only when all is there: a run may be interrupted. */
export async function madeOnce<T>(folder: string, { read, make, report }: Making<T>): Promise<T> {
  const known = read(folder);
  if (known !== undefined) return known;
  const unfinished = `${folder}.unfinished`;
  for (const leftover of [folder, unfinished]) rmSync(leftover, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  report(`making ${folder}`);
  await make(unfinished);
  renameSync(unfinished, folder);
  const made = read(folder);
  if (made === undefined) throw new Error(`expected something that can be used in ${folder}`);
  return made;
}
