// Brings a store to the layout that the program reads. This file knows the key of the layout's
// version; only the migrations know the layouts themselves (migrations/README.md). A checksum
// after the version keeps a damaged version from being taken for that of a newer program.

import { crc32 } from 'node:zlib';
import { LayoutVersionError, StoreError } from './errors';
import type { Store, StoreWrite } from './store';

/** How far a migration is. */
export interface MigrationProgress {
  /** 0 to 1, estimated. */
  readonly part: number;
  /** Bytes of records processed since it was started. */
  readonly bytes: number;
}

/** Called often during a migration. An error that it throws ends the migration, which is run again at the next start. */
export type MigrationReport = (progress: MigrationProgress) => void;

/** A step from one layout to the next. */
export interface Migration {
  readonly from: number;
  readonly to: number;
  /** What changes, for the log. */
  readonly info: string;
  /**
   * May write along the way, in steps that can be repeated after an interruption. The writes that it
   * returns are written last, in one batch with the new version.
   */
  migrate(store: Store, report: MigrationReport): Promise<readonly StoreWrite[]>;
}

export interface MigrateOptions {
  /** The layout to reach. */
  readonly version: number;
  /** Called before each migration. */
  readonly onStep?: (migration: Migration) => void;
  readonly onProgress?: MigrationReport;
}

/** The first of all keys. Its value is the version, 32 bits, and the CRC-32 of key and version, both big endian. */
export const LAYOUT_VERSION_KEY = Buffer.from([0]);

/** The range of all keys. */
export const WHOLE_STORE = { gte: Buffer.alloc(0), lt: Buffer.alloc(1, 0xff) };

/**
 * Migrates an open store to `version`; an empty one is stamped with it.
 * @throws LayoutVersionError for a newer layout and for one without a migration from it, StoreError for data without a sound version.
 */
export async function migrate(
  store: Store,
  migrations: readonly Migration[],
  { version, onStep, onProgress }: MigrateOptions
): Promise<void> {
  let current = (await storedVersion(store)) ?? (await stamp(store, version));
  if (current > version)
    throw new LayoutVersionError(
      `the index has layout ${current}, made by a newer version of this program, which reads up to layout ${version}`
    );
  while (current < version) {
    const from = current;
    const migration = migrations.find((candidate) => candidate.from === from && candidate.to > from && candidate.to <= version);
    if (migration === undefined)
      throw new LayoutVersionError(
        `the index has layout ${current}, this program reads layout ${version} and knows no way from one to the other`
      );
    onStep?.(migration);
    const lastWrites = await migration.migrate(store, onProgress ?? (() => undefined));
    await store.batch([...lastWrites, versionRecord(migration.to)], { durable: true });
    current = migration.to;
  }
}

/**
 * The layout that an open store has; undefined when it is empty.
 * @throws StoreError (corrupt) for data without a sound version.
 */
export async function storedVersion(store: Store): Promise<number | undefined> {
  const value = store.get(LAYOUT_VERSION_KEY);
  if (value !== undefined) return versionIn(value);
  for await (const [key] of store.range({ ...WHOLE_STORE, limit: 1 }))
    throw new StoreError('corrupt', `the index holds data (first key ${key.toString('hex')}) but no layout version`);
  return undefined;
}

function versionIn(value: Buffer): number {
  const version = value.length < 4 ? 0 : value.readUInt32BE();
  if (!value.equals(versionValue(version)))
    throw new StoreError('corrupt', `the index has a damaged layout version, ${value.toString('hex')}`);
  return version;
}

async function stamp(store: Store, version: number): Promise<number> {
  await store.batch([versionRecord(version)], { durable: true });
  return version;
}

/** The write that says which layout a store has. */
export function versionRecord(version: number): StoreWrite {
  return { type: 'put', key: LAYOUT_VERSION_KEY, value: versionValue(version) };
}

function versionValue(version: number): Buffer {
  const value = Buffer.alloc(8);
  value.writeUInt32BE(version);
  value.writeUInt32BE(crc32(value.subarray(0, 4), crc32(LAYOUT_VERSION_KEY)), 4);
  return value;
}
