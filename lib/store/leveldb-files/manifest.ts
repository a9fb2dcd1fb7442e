// LevelDB's manifest: the edits that lead to the current set of tables (db/version_edit.cc of
// LevelDB), in the format of a log. The files that it names must exist.

import { LevelFormatError, LevelReader } from './cursor';
import { isCutOff, logEntries } from './log';

export interface Table {
  /** In bytes. */
  readonly length: number;
  /** The first key and the last one, as they are in the table (`userKey`). */
  readonly smallest: Buffer;
  readonly largest: Buffer;
}

export interface Manifest {
  /** The tables in use, by their numbers. */
  readonly tables: ReadonlyMap<number, Table>;
  /** Writes that are in no table are in this log and later ones; 0: there is no log yet. */
  readonly logNumber: number;
}

/** Bytes of the sequence number and kind that LevelDB puts behind each key. */
const KEY_TRAILER_LENGTH = 8;

/** Kinds of fields. */
const TAG = {
  comparator: 1,
  logNumber: 2,
  nextFileNumber: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedFile: 6,
  newFile: 7,
  previousLogNumber: 9
} as const;

/**
 * Reads a manifest. An edit that was being written when the process died is left out, as
 * LevelDB does: the tables and the log from before that edit must then still exist.
 * @throws LevelFormatError
 */
export function readManifest(bytes: Buffer): Manifest {
  const { entries, soundLength } = logEntries(bytes);
  if (soundLength < bytes.length && !isCutOff(bytes, soundLength)) throw new LevelFormatError(`damaged at byte ${soundLength}`);
  /** By level and number: one edit can both delete a table from a level and add it to the next. */
  const tables = new Map<string, readonly [number: number, table: Table]>();
  let logNumber: number | undefined;
  for (const entry of entries) {
    const reader = new LevelReader(entry);
    while (!reader.atEnd) {
      const tag = reader.integer();
      switch (tag) {
        case TAG.comparator:
          reader.string();
          break;
        case TAG.logNumber:
          logNumber = reader.integer();
          break;
        case TAG.nextFileNumber:
        case TAG.lastSequence:
        case TAG.previousLogNumber:
          reader.integer();
          break;
        case TAG.compactPointer:
          reader.integer();
          reader.string();
          break;
        case TAG.deletedFile:
          tables.delete(`${reader.integer()}/${reader.integer()}`);
          break;
        case TAG.newFile: {
          const [level, number, length] = [reader.integer(), reader.integer(), reader.integer()];
          tables.set(`${level}/${number}`, [number, { length, smallest: reader.string(), largest: reader.string() }]);
          break;
        }
        default:
          throw new LevelFormatError(`expected a field of an edit, got ${tag}`);
      }
    }
  }
  if (logNumber === undefined) throw new LevelFormatError('expected the number of a log, got none');
  return { tables: new Map(tables.values()), logNumber };
}

/** The key that was written, of one that is in a table. */
export const userKey = (key: Buffer): Buffer => key.subarray(0, Math.max(0, key.length - KEY_TRAILER_LENGTH));
