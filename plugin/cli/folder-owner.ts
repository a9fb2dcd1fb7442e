// Whose a folder is. A node cannot read what another user, root above all, makes in its folder.

import { statSync } from 'node:fs';

/** Why this user should make nothing there, as a sentence; undefined: he may. `folders`: the first one that exists counts. */
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
