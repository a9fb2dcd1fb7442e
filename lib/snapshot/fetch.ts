// Fetches a snapshot to where a node or reader that is not running would build its indexes. The files come into a folder beside it, and are
// moved into place once all are there and verified.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivate } from '../system/private-file';
import { isMissingFile, namingFile } from '../system/system-errors';
import { LAYOUT_VERSION as INDEX_LAYOUT } from '../index/records/layout';
import { LAYOUT_VERSION as SCRIPTS_LAYOUT } from '../scripts/records/layout';
import { LOCK_NAME } from '../store/folder-lock';
import { syncToDisk } from '../system/sync-to-disk';
import { SnapshotError, TransferError } from './errors';
import { fileHash } from './file-hash';
import { withFolderLock } from './folder-lock';
import {
  MANIFEST_NAME,
  MOST_MANIFEST_BYTES,
  readManifest,
  SIGNATURE_NAME,
  STORE_NAMES,
  type SnapshotFile,
  type SnapshotManifest
} from './manifest';
import { requireGenesis, type SnapshotNetwork } from './network';
import { MOST_SIGNATURE_BYTES, signerOf } from './signature';
import type { SnapshotSource } from './source';
import type { SnapshotPlaces, SnapshotWork } from './work';

/** Beside the indexes, so that moving is renaming. */
const INCOMING = 'snapshot-incoming';
/** A copy of the manifest, once all of its files are there and have been verified: then what is left to do is to move. */
const COMPLETE_NAME = 'complete';
/** Of a file that has not come whole. */
const PART = '.part';

export interface FetchOptions extends SnapshotWork, SnapshotNetwork {
  readonly source: SnapshotSource;
  readonly places: SnapshotPlaces;
  /** Whose signature the snapshot must have. */
  readonly trusted: string;
}

/**
 * Fetches a snapshot; what an earlier call has fetched is used. A call is refused while another one fetches to the same place.
 * @throws SnapshotError, the reason of an abort, errors of the system: the indexes are then not there
 */
export async function fetchSnapshot(options: FetchOptions): Promise<SnapshotManifest> {
  const bytes = await readWhole(options, MANIFEST_NAME, MOST_MANIFEST_BYTES);
  try {
    return await fetchListed(bytes, options);
  } catch (error) {
    if (!(error instanceof SnapshotError) || error instanceof TransferError) throw error;
    const now = await readWhole(options, MANIFEST_NAME, MOST_MANIFEST_BYTES).catch(() => bytes);
    if (now.equals(bytes)) throw error;
    throw new SnapshotError('another snapshot has taken the place of the one that was being fetched: fetch it again', { cause: error });
  }
}

/** The snapshot with this manifest. */
async function fetchListed(bytes: Buffer, options: FetchOptions): Promise<SnapshotManifest> {
  const { places } = options;
  const incoming = join(places.folder, INCOMING);
  const manifest = await usable(bytes, options);
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  return await withFolderLock(incoming, `another process is fetching a snapshot to ${places.folder}`, async () => {
    if (!(await isComplete(incoming, bytes))) {
      await requireNoIndex(places, incoming);
      await rm(join(incoming, COMPLETE_NAME), { force: true });
      await syncToDisk(incoming);
      await fetchFiles(incoming, manifest.files, options);
      await writePrivate(join(incoming, COMPLETE_NAME), bytes);
      await syncToDisk(incoming);
    }
    await moveIn(incoming, places);
    return manifest;
  });
}

/** Whether all of this very snapshot has come before, by the bytes of its manifest. */
async function isComplete(incoming: string, manifest: Buffer): Promise<boolean> {
  try {
    return (await readFile(join(incoming, COMPLETE_NAME))).equals(manifest);
  } catch (error) {
    if (isMissingFile(error)) return false;
    throw error;
  }
}

/** Also once another call has ended meanwhile. Leaves no folder that has nothing but the lock. */
async function requireNoIndex(places: SnapshotPlaces, incoming: string): Promise<void> {
  const name = STORE_NAMES.find((each) => existsSync(places[each]));
  if (name === undefined) return;
  if ((await readdir(incoming)).every((each) => each === LOCK_NAME)) await rm(incoming, { recursive: true });
  throw new SnapshotError(`there is an index already, in ${places[name]}: delete it first, while nothing is running that uses it`);
}

/** Moves the indexes to their places, also after an interruption in between. The index first: without it, the other one would be of no use. */
async function moveIn(incoming: string, places: SnapshotPlaces): Promise<void> {
  for (const name of STORE_NAMES) {
    const from = join(incoming, name);
    if (!existsSync(from)) continue;
    if (existsSync(places[name]))
      throw new SnapshotError(`the snapshot is in ${incoming}, but meanwhile there is an index in ${places[name]}`);
    await rename(from, places[name]);
  }
  await syncToDisk(places.folder);
  await rm(incoming, { recursive: true });
}

/** The manifest, once it is known to be right and usable here. */
async function usable(bytes: Buffer, options: FetchOptions): Promise<SnapshotManifest> {
  const { trusted, network } = options;
  const signature = await readWhole(options, SIGNATURE_NAME, MOST_SIGNATURE_BYTES);
  signerOf(bytes, signature.toString('utf8'), trusted);
  const manifest = readManifest(bytes.toString('utf8'));
  if (manifest.network !== network) throw new SnapshotError(`the snapshot is of the network ${manifest.network}, not of ${network}`);
  requireGenesis('the snapshot', manifest.genesisHash, options);
  requireLayout('index', manifest.index.layout, INDEX_LAYOUT);
  if (manifest.scripts !== undefined) requireLayout('index by script', manifest.scripts.layout, SCRIPTS_LAYOUT);
  return manifest;
}

function requireLayout(name: string, layout: number, own: number): void {
  if (layout > own)
    throw new SnapshotError(
      `the ${name} of the snapshot has layout ${layout}, made by a newer version of this program, which reads layout ${own}`
    );
}

async function readWhole({ source, signal }: FetchOptions, name: string, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source.read(name, 0, signal)) {
    if ((length += chunk.length) > most) throw new SnapshotError(`${name} of the snapshot is longer than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Fetches what is not there already, and removes what does not belong there. */
async function fetchFiles(incoming: string, files: readonly SnapshotFile[], { source, signal, onProgress }: FetchOptions): Promise<void> {
  await removeOthers(incoming, files);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  await requireSpace(incoming, files, total);
  let done = 0;
  const onBytes = (count: number): void => {
    signal.throwIfAborted();
    onProgress({ done: (done += count), total });
  };
  for (const name of STORE_NAMES)
    if (files.some((file) => file.name.startsWith(`${name}/`))) await mkdir(join(incoming, name), { recursive: true, mode: 0o700 });
  for (const file of files) {
    const before = done;
    if (await isThere(join(incoming, file.name), file, onBytes)) continue;
    done = before;
    // A part that is left may be of another snapshot, in which another file had this name.
    while (!(await fetchFile(incoming, file, { source, signal, onBytes }))) done = before;
  }
  for (const name of STORE_NAMES) if (existsSync(join(incoming, name))) await syncToDisk(join(incoming, name));
}

async function removeOthers(incoming: string, files: readonly SnapshotFile[]): Promise<void> {
  const wanted = new Set(files.flatMap(({ name }) => [name, `${name}${PART}`]));
  for (const store of STORE_NAMES)
    for (const name of await readdir(join(incoming, store)).catch(() => []))
      if (!wanted.has(`${store}/${name}`)) await rm(join(incoming, store, name), { recursive: true });
}

async function requireSpace(incoming: string, files: readonly SnapshotFile[], total: number): Promise<void> {
  let there = 0;
  for (const { name, size } of files)
    for (const end of ['', PART])
      there += Math.min(
        size,
        await stat(join(incoming, name + end)).then(
          (found) => found.size,
          () => 0
        )
      );
  const { bavail, bsize } = await statfs(incoming);
  if (bavail * bsize < total - there)
    throw new SnapshotError(`the snapshot takes ${total - there} bytes more, and the disk of ${incoming} has ${bavail * bsize} left`);
}

async function isThere(path: string, { size, sha256 }: SnapshotFile, onBytes: (count: number) => void): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return false;
  if (found.size === size && (await fileHash(path, onBytes)) === sha256) return true;
  await rm(path);
  return false;
}

interface Transfer {
  readonly source: SnapshotSource;
  readonly signal: AbortSignal;
  readonly onBytes: (count: number) => void;
}

/** Goes on where the file ends that has come so far. False: that was not the beginning of this file, and is gone. @throws SnapshotError */
async function fetchFile(incoming: string, { name, size, sha256 }: SnapshotFile, { source, signal, onBytes }: Transfer): Promise<boolean> {
  const path = join(incoming, name);
  const hash = createHash('sha256');
  const partPath = `${path}${PART}`;
  const part = await open(partPath, 'a+', 0o600);
  let wasBegun: boolean;
  try {
    let at = await hashPart(part, (chunk) => {
      hash.update(chunk);
      onBytes(chunk.length);
    });
    wasBegun = at > 0;
    if (at < size)
      for await (const chunk of source.read(name, at, signal)) {
        // What comes after the end is of no use.
        const own = chunk.subarray(0, size - at);
        hash.update(own);
        await namingFile(partPath, () => writeAll(part, own));
        onBytes(own.length);
        at += own.length;
        if (at === size) break;
      }
    if (at < size) throw new SnapshotError(`${name} is shorter than the manifest says`);
    await namingFile(partPath, () => part.sync());
  } finally {
    await part.close();
  }
  if (hash.digest('hex') === sha256) {
    await rename(partPath, path);
    return true;
  }
  await rm(partPath);
  if (wasBegun) return false;
  throw new SnapshotError(`${name} is not the file that the manifest names`);
}

async function hashPart(part: FileHandle, take: (chunk: Buffer) => void): Promise<number> {
  let at = 0;
  const buffer = Buffer.allocUnsafe(1_024 * 1_024);
  for (;;) {
    const { bytesRead } = await part.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return at;
    take(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
}
