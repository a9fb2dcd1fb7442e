// `npm start -- --reset`: the demonstration is removed, so that the next one is mined anew.

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';

/** A store of the demonstration that a running node has open. */
const STORE = 'regtest/rest/index';

/** @throws Error if a node uses the folder */
export async function resetDemonstration(folder: string): Promise<void> {
  const store = join(folder, STORE);
  if (existsSync(store)) await requireUnused(store, folder);
  await rm(folder, { recursive: true, force: true });
}

async function requireUnused(store: string, folder: string): Promise<void> {
  const engine = new ClassicLevel(store, { createIfMissing: false });
  try {
    await engine.open();
  } catch (error) {
    const { code } = (error as { readonly cause?: { readonly code?: unknown } }).cause ?? {};
    // Damage is no reason to keep it.
    if (code === 'LEVEL_LOCKED') throw new Error(`another process uses ${folder}: stop that node first`, { cause: error });
  }
  await engine.close();
}
