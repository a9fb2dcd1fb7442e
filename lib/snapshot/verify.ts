// Verifies a snapshot in a folder: the signature, and every file.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SnapshotError } from './errors';
import { fileHash } from './file-hash';
import { MANIFEST_NAME, MOST_MANIFEST_BYTES, readManifest, SIGNATURE_NAME, STORE_NAMES, type SignedSnapshot } from './manifest';
import { MOST_SIGNATURE_BYTES, signerOf } from './signature';
import type { SnapshotWork } from './work';

/**
 * `trusted`: whose signature it must have; undefined: anybody's.
 * @throws SnapshotError that says what is wrong, the reason of an abort, errors of the system
 */
export async function verifySnapshot(folder: string, { signal, onProgress }: SnapshotWork, trusted?: string): Promise<SignedSnapshot> {
  const bytes = await readBounded(folder, MANIFEST_NAME, MOST_MANIFEST_BYTES);
  const signature = await readBounded(folder, SIGNATURE_NAME, MOST_SIGNATURE_BYTES);
  const signer = signerOf(bytes, signature.toString('utf8'), trusted);
  const manifest = readManifest(bytes.toString('utf8'));
  const names = new Set(manifest.files.map(({ name }) => name));
  for (const store of STORE_NAMES)
    for (const name of await readdir(join(folder, store)).catch(() => []))
      if (!names.has(`${store}/${name}`)) throw new SnapshotError(`${store}/${name} is not in the manifest`);
  const total = manifest.files.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  for (const { name, size, sha256 } of manifest.files) {
    const path = join(folder, name);
    const length = await lengthOf(path);
    if (length === undefined) throw new SnapshotError(`${name} is missing`);
    if (length !== size) throw new SnapshotError(`${name} has ${length} bytes instead of ${size}`);
    const found = await fileHash(path, (count) => {
      signal.throwIfAborted();
      onProgress({ done: (done += count), total });
    });
    if (found !== sha256) throw new SnapshotError(`${name} is not the file that the manifest names`);
  }
  return { manifest, signer };
}

/** Undefined: there is no such file. */
const lengthOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined
  );

async function readBounded(folder: string, name: string, most: number): Promise<Buffer> {
  const length = await lengthOf(join(folder, name));
  if (length === undefined) throw new SnapshotError(`there is no snapshot in ${folder}: ${name} is missing`);
  if (length > most) throw new SnapshotError(`${name} is longer than ${most} bytes`);
  return await readFile(join(folder, name));
}
