// The owner of a folder. A node cannot read what another user, such as root, makes in its folder.

import { statSync } from 'node:fs';

/** Why this user should make nothing there, as a sentence; undefined: it may. `folders`: the first that exists counts. */
export function foreignOwner(folders: readonly string[]): string | undefined {
  const user = process.geteuid?.();
  for (const folder of folders) {
    const owner = statSync(folder, { throwIfNoEntry: false })?.uid;
    if (owner === undefined) continue;
    return owner === user || user === undefined
      ? undefined
      : `${folder} belongs to the user ${owner}, who could not read what ${user} makes there: run this as the user of the node`;
  }
  return undefined;
}
