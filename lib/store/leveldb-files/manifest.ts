// LevelDB's manifest: the edits that lead to the set of tables of now (db/version_edit.cc of
// LevelDB), in the format of a log. What it says is what must be there.

import { isCutOff, logEntries } from './log';
import { LevelFormatError, LevelReader } from './cursor';

export interface Manifest {
  /** Lengths of the tables in use, in bytes, by their numbers. */
  readonly tables: ReadonlyMap<number, number>;
  /** Writes that are in no table are in this log and later ones; 0: there is none yet. */
  readonly logNumber: number;
}

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
 * LevelDB does: the tables and the log of before it are still there then, or it is damage.
 * @throws LevelFormatError
 */
export function readManifest(bytes: Buffer): Manifest {
  const { entries, soundLength } = logEntries(bytes);
  if (soundLength < bytes.length && !isCutOff(bytes, soundLength))
    throw new LevelFormatError(`damaged at byte ${soundLength}`);
  const state = new ManifestState();
  for (const entry of entries) state.apply(entry);
  return state.manifest();
}

class ManifestState {
  /** Length and number by level and number: tables move from level to level. */
  readonly #tables = new Map<string, readonly [number: number, length: number]>();
  #logNumber: number | undefined;

  apply(entry: Buffer): void {
    const reader = new LevelReader(entry);
    const added: (readonly [place: string, table: readonly [number, number]])[] = [];
    while (!reader.atEnd) this.#applyField(reader, added);
    // In the same edit a table leaves one level and enters the next.
    for (const [place, table] of added) this.#tables.set(place, table);
  }

  manifest(): Manifest {
    if (this.#logNumber === undefined) throw new LevelFormatError('expected the number of a log, got none');
    return { tables: new Map(this.#tables.values()), logNumber: this.#logNumber };
  }

  #applyField(reader: LevelReader, added: (readonly [string, readonly [number, number]])[]): void {
    const tag = reader.integer();
    switch (tag) {
      case TAG.comparator: reader.string(); break;
      case TAG.logNumber: this.#logNumber = reader.integer(); break;
      case TAG.nextFileNumber:
      case TAG.lastSequence:
      case TAG.previousLogNumber: reader.integer(); break;
      case TAG.compactPointer: reader.integer(); reader.string(); break;
      case TAG.deletedFile: this.#tables.delete(`${reader.integer()}/${reader.integer()}`); break;
      case TAG.newFile: {
        const [level, number, length] = [reader.integer(), reader.integer(), reader.integer()];
        reader.string(); // smallest key
        reader.string(); // largest key
        added.push([`${level}/${number}`, [number, length]]);
        break;
      }
      default: throw new LevelFormatError(`expected a field of an edit, got ${tag}`);
    }
  }
}
