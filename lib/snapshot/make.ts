// Makes a snapshot of the indexes of a process, which may be running.

import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DEFAULT_UNDO_DEPTH } from '../index/chain-index';
import { ClosedIndex } from '../index/read/closed-index';
import { findTip } from '../index/records/chain';
import { TxidTable } from '../scripts/txids/txid-table';
import { LOCK_NAME } from '../store/folder-lock';
import { storedVersion } from '../store/migrate';
import { DamagedPageError } from '../store/pages';
import { syncToDisk } from '../system/sync-to-disk';
import { isMissingFile, namingFile, systemCodeOf } from '../system/system-errors';
import { fileHash } from './file-hash';
import { withFolderLock } from './folder-lock';
import { SnapshotError } from './errors';
import {
  MANIFEST_NAME,
  manifestText,
  SIGNATURE_NAME,
  STORE_NAMES,
  type SignedSnapshot,
  type SnapshotFile,
  type SnapshotManifest,
  type StoreState
} from './manifest';
import { requireGenesis, type SnapshotNetwork } from './network';
import { SigningKey } from './signature';
import { copyStore } from './store-copy';
import type { Store } from '../store/store';
import type { SnapshotPlaces, SnapshotWork } from './work';

export interface MakeOptions extends SnapshotWork, SnapshotNetwork {
  /** Of the indexes. */
  readonly places: SnapshotPlaces;
  /** The file of the key to sign with, which is made if it does not exist. */
  readonly keyFile: string;
}

/**
 * Makes a snapshot in a new or empty folder, all or nothing. A call is refused while another one makes it in the same place.
 * @throws SnapshotError, the reason of an abort, errors of the system
 */
export async function makeSnapshot(to: string, { places, keyFile, ...rest }: MakeOptions): Promise<SignedSnapshot> {
  await makeRoom(to);
  if (!existsSync(places.index)) throw new SnapshotError(`there is no index in ${places.index}`);
  const key = await SigningKey.at(keyFile);
  const unfinished = `${to}.unfinished`;
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  await requireOwn(unfinished);
  await chmod(unfinished, 0o700);
  return await withFolderLock(unfinished, `another process is making a snapshot in ${to}`, async () => {
    try {
      return await makeIn(unfinished, to, { places, key, ...rest });
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      throw error;
    }
  });
}

/** Makes it in one folder, where an earlier call may have left something, and moves it to another one. */
async function makeIn(
  unfinished: string,
  to: string,
  { places, network, genesisHash, key, ...work }: Omit<MakeOptions, 'keyFile'> & { readonly key: SigningKey }
): Promise<SignedSnapshot> {
  // Another call may have ended meanwhile.
  await makeRoom(to);
  // First the index by script: it follows the other one, and would have to be undone if it were ahead.
  const scripts = existsSync(places.scripts)
    ? await copyStore(places.scripts, join(unfinished, 'scripts'), { ...work, inspect: scriptsState })
    : undefined;
  if (scripts === undefined) await rm(join(unfinished, 'scripts'), { recursive: true, force: true });
  const inspect = async (store: Store): Promise<StoreState> => await indexState(store, { network, genesisHash });
  const index = await copyStore(places.index, join(unfinished, 'index'), { ...work, inspect });
  const files = [...(await filesOf(unfinished, 'index', work)), ...(scripts ? await filesOf(unfinished, 'scripts', work) : [])];
  const manifest: SnapshotManifest = { network, genesisHash, index, scripts, files };
  const text = manifestText(manifest);
  await writeNew(join(unfinished, MANIFEST_NAME), text);
  await writeNew(join(unfinished, SIGNATURE_NAME), key.sign(Buffer.from(text)));
  await rm(join(unfinished, LOCK_NAME), { recursive: true });
  await syncAll(unfinished, files);
  await makeRoom(to);
  await rename(unfinished, to);
  await syncToDisk(dirname(to));
  return { manifest, signer: key.trusted };
}

const writeNew = (path: string, text: string): Promise<void> => namingFile(path, () => writeFile(path, text, { mode: 0o600 }));

/** After a crash a folder with the final name has all of the snapshot. */
async function syncAll(folder: string, files: readonly SnapshotFile[]): Promise<void> {
  const names = [...files.map(({ name }) => name), MANIFEST_NAME, SIGNATURE_NAME];
  const folders = new Set(names.map((name) => dirname(name)));
  for (const name of [...names, ...folders]) await syncToDisk(join(folder, name));
}

/** What was not made here is not deleted. */
async function requireOwn(unfinished: string): Promise<void> {
  const own: readonly string[] = [...STORE_NAMES, MANIFEST_NAME, SIGNATURE_NAME, LOCK_NAME];
  const foreign = (await readdir(unfinished)).find((name) => !own.includes(name));
  if (foreign !== undefined) throw new SnapshotError(`${unfinished} is needed meanwhile, and has something else in it: ${foreign}`);
}

/** Removes an empty folder, which shows early that it can be replaced. What is in it is not deleted. */
async function makeRoom(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (isMissingFile(error)) return;
    if (systemCodeOf(error) === 'ENOTEMPTY') throw new SnapshotError(`${folder} is not empty`, { cause: error });
    throw error;
  }
}

/** @throws SnapshotError for an index without blocks, or of another network */
async function indexState(store: Store, network: SnapshotNetwork): Promise<StoreState> {
  const closed = new ClosedIndex(store);
  const [layout, tip, genesis] = [await closed.layout(), await closed.tip(), closed.genesisHash()];
  if (layout === undefined || tip === undefined || genesis === undefined) throw new SnapshotError('the index has no blocks yet');
  requireGenesis('the index', genesis, network);
  return { layout, ...tip };
}

/** Undefined while it is being filled. @throws DamagedPageError when the pages are those of another state */
async function scriptsState(store: Store): Promise<StoreState | undefined> {
  const [layout, tip] = [await storedVersion(store), await findTip(store)];
  if (layout === undefined || tip === undefined) return undefined;
  const table = await TxidTable.load(store, tip.height + 1);
  await table.check();
  // A reorganization during the copy would have put other txids on pages that records already counted.
  for (let height = Math.max(0, table.blocks - DEFAULT_UNDO_DEPTH); height < table.blocks; height++)
    if (!table.hasTxids(height, table.view.ofBlock(height))) throw new DamagedPageError(`the txids of block ${height} are others`, 0);
  await table.cut();
  return { layout, ...tip };
}

async function filesOf(folder: string, name: string, { signal, onProgress }: SnapshotWork): Promise<SnapshotFile[]> {
  const names = (await readdir(join(folder, name))).sort();
  const sizes = await Promise.all(names.map(async (each) => (await stat(join(folder, name, each))).size));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let done = 0;
  const files: SnapshotFile[] = [];
  for (const [i, each] of names.entries()) {
    const sha256 = await fileHash(join(folder, name, each), (count) => {
      signal.throwIfAborted();
      onProgress({ done: (done += count), total });
    });
    files.push({ name: `${name}/${each}`, size: sizes[i] as number, sha256 }); // one for each
  }
  return files;
}
