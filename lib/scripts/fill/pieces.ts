// Files of pieces, which are written one after another and read in this order. A piece is its length 4, a checksum 4, and bytes. The
// checksum (CRC-32) includes the name of the file, the offset of the piece, and the secret of the filling: so it detects altered pieces,
// and also pieces of another filling, file or place.

import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { isMissingFile, withFile } from '../../system/system-errors';
import { DamagedIndexError } from '../../follow/errors';

const HEAD_LENGTH = 8;
/** Length of a piece with its head, unless bytes that must stay together are longer. */
const USUAL_LENGTH = 64 * 1_024;
/** Only the owner may read and write. */
const MODE = 0o600;

const NOTHING = Buffer.alloc(0);

export interface PieceFile {
  readonly path: string;
  /** Secret of the filling. */
  readonly secret: Uint8Array;
}

/** Writes through a buffer. The file is open only while a piece is written: there may be more files than a process can open. */
export class PieceWriter {
  /** The buffer; the caller writes to the bytes that it has reserved. */
  bytes: Buffer = NOTHING;
  readonly #file: PieceFile;
  readonly #seed: number;
  #end = HEAD_LENGTH;
  /** Length of the pieces in the file. */
  #length: number;
  #isForced = true;

  /** `length`: bytes that are already in the file, and stay. */
  constructor(file: PieceFile, length: number) {
    this.#file = file;
    this.#seed = seedOf(file);
    this.#length = length;
  }

  /** Length of the pieces in the file, without bytes that `flush` has yet to write. */
  get length(): number {
    return this.#length;
  }

  /** Reserves `count` bytes of one piece, and returns where they begin in `bytes`. */
  reserve(count: number): number {
    if (this.#end + count > this.bytes.length) {
      this.flush();
      if (this.#end + count > this.bytes.length) this.bytes = Buffer.allocUnsafeSlow(Math.max(this.#end + count, USUAL_LENGTH));
    }
    const at = this.#end;
    this.#end += count;
    return at;
  }

  /** Writes the content of the buffer as a piece. @throws Error of the file system, naming the file; the length then stays the same. */
  flush(): void {
    const { bytes } = this;
    const end = this.#end;
    if (end === HEAD_LENGTH) return;
    bytes.writeUInt32BE(end - HEAD_LENGTH);
    bytes.writeUInt32BE(checksumOf(this.#seed, this.#length, bytes.subarray(HEAD_LENGTH, end)), 4);
    const file = openSync(this.#file.path, constants.O_WRONLY | constants.O_CREAT, MODE);
    try {
      for (let at = 0; at < end;) at += writeSync(file, bytes, at, end - at, this.#length + at);
    } catch (error) {
      throw withFile(this.#file.path, error);
    } finally {
      closeSync(file);
    }
    this.#length += end;
    this.#end = HEAD_LENGTH;
    this.#isForced = false;
  }

  /** Forces the whole file to the disk (fsync). Returns whether there was anything to do. */
  force(): boolean {
    this.flush();
    if (this.#isForced) return false;
    const file = openSync(this.#file.path, 'r+');
    try {
      fsyncSync(file);
    } catch (error) {
      throw withFile(this.#file.path, error);
    } finally {
      closeSync(file);
    }
    return (this.#isForced = true);
  }

  /** Drops the buffer and its content. */
  release(): void {
    this.bytes = NOTHING;
    this.#end = HEAD_LENGTH;
  }
}

/**
 * The bytes of the pieces in the first `length` bytes of a file. @throws DamagedIndexError that names the file; Error of the
 * file system
 */
export function* piecesOf(file: PieceFile, length: number): Generator<Buffer, void> {
  if (length === 0) return;
  const seed = seedOf(file);
  const opened = openForReading(file);
  try {
    const head = Buffer.alloc(HEAD_LENGTH);
    for (let at = 0; at < length;) {
      if (at + HEAD_LENGTH > length || !readWhole(opened, head, at)) throw cut(file, at);
      const count = head.readUInt32BE();
      if (at + HEAD_LENGTH + count > length) throw new DamagedIndexError(`${file.path} has a damaged piece at byte ${at}`);
      const bytes = Buffer.allocUnsafeSlow(count);
      if (!readWhole(opened, bytes, at + HEAD_LENGTH)) throw cut(file, at);
      if (checksumOf(seed, at, bytes) !== head.readUInt32BE(4))
        throw new DamagedIndexError(`${file.path} has a damaged piece at byte ${at}`);
      yield bytes;
      at += HEAD_LENGTH + count;
    }
  } finally {
    closeSync(opened);
  }
}

function seedOf({ path, secret }: PieceFile): number {
  return crc32(basename(path), crc32(secret));
}

function checksumOf(seed: number, at: number, bytes: Buffer): number {
  return crc32(bytes, crc32(`${at} ${bytes.length}`, seed));
}

function openForReading({ path }: PieceFile): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (!isMissingFile(error)) throw error;
    throw new DamagedIndexError(`${path} is missing`);
  }
}

function readWhole(file: number, bytes: Buffer, position: number): boolean {
  for (let at = 0; at < bytes.length;) {
    const count = readSync(file, bytes, at, bytes.length - at, position + at);
    if (count === 0) return false;
    at += count;
  }
  return true;
}

function cut({ path }: PieceFile, at: number): DamagedIndexError {
  return new DamagedIndexError(`${path} is cut off after byte ${at}`);
}
