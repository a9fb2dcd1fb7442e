// What a snapshot consists of: a folder with the files of the index, those of the index by script if there is one, and beside them
//
//   manifest.json    which network and blocks these are, and the size and SHA-256 of every file
//   manifest.sig     the signature of manifest.json (signature.ts)
//
// All of it comes from strangers until the signature was checked, and file names afterwards still lead nowhere else.

import { SnapshotError } from './errors';
import { fromDisplayHex, toDisplayHex } from '../bitcoin/hash';
import type { BlockPoint } from '../node/types/chain';

export const MANIFEST_NAME = 'manifest.json';
export const SIGNATURE_NAME = 'manifest.sig';
/** A manifest of the largest index has some 250 kB. */
export const MOST_MANIFEST_BYTES = 16 * 1_024 * 1_024;

/** The two stores, as folders of a snapshot. */
export const STORE_NAMES = ['index', 'scripts'] as const;

const VERSION = 1;
/** The files of a store (lib/store/disk-store.ts). */
const FILE_NAME = /^(?:index|scripts)\/(?:CURRENT|PAGES|MANIFEST-\d{6,18}|\d{6,18}\.(?:ldb|log))$/;
const SHA256 = /^[0-9a-f]{64}$/;

export interface SnapshotFile {
  /** Folder and name, for example `index/000005.ldb`. */
  readonly name: string;
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

/** The state of one store. */
export interface StoreState extends BlockPoint {
  readonly layout: number;
}

export interface SnapshotManifest {
  /** bcoin's name. */
  readonly network: string;
  /** Hash of the network's genesis block. */
  readonly genesisHash: Buffer;
  readonly index: StoreState;
  /** Undefined: there is none in the snapshot. */
  readonly scripts: StoreState | undefined;
  readonly files: readonly SnapshotFile[];
}

export interface SignedSnapshot {
  readonly manifest: SnapshotManifest;
  /** The public half of the key that signed it (signature.ts). */
  readonly signer: string;
}

/** The content of manifest.json, JSON with a line feed at its end. Hashes are as displayed. */
export function manifestText({ network, genesisHash, index, scripts, files }: SnapshotManifest): string {
  const state = (of: StoreState): object => ({ layout: of.layout, height: of.height, hash: toDisplayHex(of.hash) });
  const json = {
    version: VERSION,
    network,
    genesis: toDisplayHex(genesisHash),
    index: state(index),
    scripts: scripts && state(scripts),
    files
  };
  return `${JSON.stringify(json, undefined, 1)}\n`;
}

/** @throws SnapshotError */
export function readManifest(text: string): SnapshotManifest {
  const json = objectOf(parsed(text), 'the manifest');
  if (json['version'] !== VERSION)
    throw new SnapshotError(`the snapshot has a manifest of version ${String(json['version'])}, and this program reads version ${VERSION}`);
  const { network, genesis, index, scripts, files } = json;
  if (typeof network !== 'string' || !Array.isArray(files)) throw malformed('network and files');
  return {
    network,
    genesisHash: hashOf(genesis),
    index: stateOf(index),
    scripts: scripts === undefined ? undefined : stateOf(scripts),
    files: filesOf(files)
  };
}

function filesOf(list: readonly unknown[]): SnapshotFile[] {
  const names = new Set<string>();
  return list.map((each) => {
    const { name, size, sha256 } = objectOf(each, 'a file');
    if (typeof name !== 'string' || !FILE_NAME.test(name)) throw malformed(`the name of a file of an index, not ${JSON.stringify(name)}`);
    if (names.has(name)) throw malformed(`${name} once`);
    names.add(name);
    if (!isCount(size) || typeof sha256 !== 'string' || !SHA256.test(sha256)) throw malformed(`size and SHA-256 of ${name}`);
    return { name, size, sha256 };
  });
}

function stateOf(json: unknown): StoreState {
  const { layout, height, hash } = objectOf(json, 'the state of an index');
  if (!isCount(layout) || !isCount(height)) throw malformed('layout and height of an index');
  return { layout, height, hash: hashOf(hash) };
}

function hashOf(text: unknown): Buffer {
  if (typeof text !== 'string' || !SHA256.test(text)) throw malformed('the hash of a block');
  return fromDisplayHex(text);
}

function objectOf(json: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null) throw malformed(what);
  return json as Readonly<Record<string, unknown>>; // any object may be read so
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SnapshotError('the manifest of the snapshot is not JSON', { cause: error });
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const malformed = (expected: string): SnapshotError => new SnapshotError(`the manifest of the snapshot is damaged: expected ${expected}`);
