// Rows of blocks in files, one file for all scripts whose hashes begin with the same bits. Rows in a file are in the order of the chain,
// each after a head: hash of the script 10, position 6, row (row.ts).

import { closeSync, fsyncSync, openSync, readdirSync, rmdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DamagedIndexError } from '../../follow/errors';
import { POSITION_LENGTH, writePosition } from '../../index/records/position';
import { SCRIPT_HASH_LENGTH } from '../records/script-hasher';
import { piecesOf, PieceWriter, type PieceFile } from './pieces';
import type { ScriptRows } from '../scan/rows';

/** Bytes of the head of a row. */
export const ROW_HEAD_LENGTH = SCRIPT_HASH_LENGTH + POSITION_LENGTH;

/** A file is chosen by at most two bytes of a hash. */
const MOST_BITS = 16;

export class PartitionFiles {
  /** How many bits of a hash choose its file. */
  readonly bits: number;
  readonly #folder: string;
  readonly #secret: Uint8Array;
  readonly #writers: readonly PieceWriter[];

  /** `lengths`: lengths of the files, in bytes; their number must be a power of two from 2 to 65,536. */
  constructor(folder: string, secret: Uint8Array, lengths: readonly number[]) {
    this.bits = Math.log2(lengths.length);
    if (!Number.isInteger(this.bits) || this.bits < 1 || this.bits > MOST_BITS)
      throw new RangeError(`expected a power of two of files from 2 to ${2 ** MOST_BITS}, got ${lengths.length}`);
    this.#folder = folder;
    this.#secret = secret;
    this.#writers = lengths.map((length, file) => new PieceWriter(this.#rowFile(file), length));
  }

  get lengths(): readonly number[] {
    return this.#writers.map(({ length }) => length);
  }

  /** Adds the rows of the next block. Returns their number of bytes. @throws Error of the file system */
  add({ point: { height }, count, hashes, indexes, ends, rows }: ScriptRows): number {
    let total = 0;
    let start = 0;
    for (let row = 0; row < count; row++) {
      const end = ends[row] as number; // there are as many as rows
      const hashAt = row * SCRIPT_HASH_LENGTH;
      const writer = this.#writers[hashes.readUInt16BE(hashAt) >>> (MOST_BITS - this.bits)] as PieceWriter; // there is one for each beginning
      const length = ROW_HEAD_LENGTH + end - start;
      let at = writer.reserve(length);
      const { bytes } = writer;
      for (let i = 0; i < SCRIPT_HASH_LENGTH; i++) bytes[at++] = hashes[hashAt + i] as number; // a hash has 10 bytes
      at = writePosition(bytes, at, height, indexes[row] as number); // as many as rows
      if (end - start > 64) rows.copy(bytes, at, start, end);
      else for (let from = start; from < end; from++) bytes[at++] = rows[from] as number; // ends are within the rows
      start = end;
      total += length;
    }
    return total;
  }

  /** Forces all rows to the disk (fsync). @throws Error of the file system */
  force(): void {
    // The entries of the folder must be on the disk, too.
    if (this.#writers.filter((writer) => writer.force()).length > 0) forceFolder(this.#folder);
  }

  /** Frees the buffers; rows that are not in the files are lost. */
  release(): void {
    for (const writer of this.#writers) writer.release();
  }

  /**
   * Cuts the files from number `from` on to their lengths: a crash may have left more.
   * @throws DamagedIndexError for a file that is shorter or missing; Error of the file system
   */
  cut(from: number): void {
    this.lengths.forEach((length, file) => {
      if (file < from) return;
      const { path } = this.#rowFile(file);
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      if (size < length) throw new DamagedIndexError(`${path} has ${size} bytes rather than ${length}`);
      if (size > length) truncateSync(path, length);
    });
  }

  /** The rows of a file in pieces, each of whole rows. @throws as piecesOf */
  pieces(file: number): Iterable<Buffer> {
    return piecesOf(this.#rowFile(file), this.lengths[file] ?? 0);
  }

  /** The file for a sorted run, when a file has too many rows to be sorted at once. */
  run(file: number, number: number): PieceFile {
    return { path: join(this.#folder, `${nameOf(file)}.run${number}`), secret: this.#secret };
  }

  /** Removes a file and its runs. */
  remove(file: number): void {
    for (const name of fillingFiles(this.#folder))
      if (name.startsWith(`${nameOf(file)}.`)) rmSync(join(this.#folder, name), { force: true });
  }

  #rowFile(file: number): PieceFile {
    return { path: join(this.#folder, `${nameOf(file)}.rows`), secret: this.#secret };
  }
}

/** Removes the files of all fillings, and then the folder if it is empty. */
export function removeFillingFiles(folder: string): void {
  for (const name of fillingFiles(folder)) rmSync(join(folder, name), { force: true });
  try {
    rmdirSync(folder);
  } catch {
    // The folder does not exist, or holds other files.
  }
}

function fillingFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d{5}\.(rows|run\d+)$/.test(name));
  } catch {
    return [];
  }
}

function nameOf(file: number): string {
  return String(file).padStart(5, '0');
}

function forceFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
