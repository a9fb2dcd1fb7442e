// Blocks in files, the least recently used of which are deleted. A file has the bytes of the block, its undo record, and twelve bytes that
// say how long the two are and have a checksum over all before. The folder may be deleted while no reader runs.

import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { toDisplayHex } from '../../bitcoin/hash';
import { OpenFiles } from '../../node/open-files';
import { namingFile } from '../../system/system-errors';
import type { Keeping } from './keeping';
import type { StoredBlock } from './stored-block';

/** Length of the block, length of the undo record, checksum. */
const FOOTER_LENGTH = 12;
/** In the place of a length: whether the block has an undo record is not known. */
const NO_UNDO = 0xffff_ffff;

const UNFINISHED = '.tmp';

/** Many file systems are slow with many files in one folder: these are the last digits of their names. */
const FOLDER_DIGITS = 2;

/** What else is there is not the reader's. */
const FOLDER_NAME = /^[0-9a-f]{2}$/;
const FILE_NAME = /^[0-9a-f]{64}$/;

export class BlockFiles {
  readonly #folder: string;
  /** Sizes of the files by their names. */
  readonly #sizes: LRUCache<string, number>;
  /** Files whose checksum was right when they were written or read. */
  readonly #sound = new Set<string>();
  readonly #opened = new OpenFiles();
  /** Those that are there. */
  readonly #folders = new Set<string>();
  readonly #keeping: Keeping;
  #writes = 0;

  /** `keeping`: is told of errors of the system, after which a file is as good as none. */
  constructor(folder: string, mostBytes: number, keeping: Keeping) {
    this.#folder = folder;
    this.#keeping = keeping;
    this.#sizes = new LRUCache({
      maxSize: mostBytes,
      sizeCalculation: (size) => size,
      dispose: (_, name, reason) => {
        if (reason === 'set') return;
        this.#sound.delete(name);
        rm(this.#path(name), { force: true }).catch(keeping.lost);
      }
    });
  }

  get size(): { readonly bytes: number; readonly entries: number } {
    return { bytes: this.#sizes.calculatedSize, entries: this.#sizes.size };
  }

  /** Looks up which files there are. @throws errors of the system */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const found: { readonly name: string; readonly size: number; readonly time: number }[] = [];
    const folders = (await readdir(this.#folder)).filter((name) => FOLDER_NAME.test(name));
    for (const folder of folders) {
      for (const name of await readdir(join(this.#folder, folder))) {
        const path = join(this.#folder, folder, name);
        const { size, mtimeMs } = await stat(path);
        // After a power failure a file may be empty.
        if (name.endsWith(UNFINISHED) || (FILE_NAME.test(name) && size <= FOOTER_LENGTH)) await rm(path, { force: true });
        else if (FILE_NAME.test(name)) found.push({ name, size, time: mtimeMs });
      }
    }
    for (const { name, size } of found.sort((a, b) => a.time - b.time)) this.#sizes.set(name, size);
  }

  /** Keeps a block. A file that cannot be written is left out. */
  async put(hash: Buffer, { raw, undo }: StoredBlock): Promise<void> {
    const name = toDisplayHex(hash);
    if (this.#sizes.has(name) && undo === undefined) return;
    const footer = Buffer.alloc(FOOTER_LENGTH);
    footer.writeUInt32LE(raw.length, 0);
    footer.writeUInt32LE(undo?.length ?? NO_UNDO, 4);
    const parts = [raw, undo ?? Buffer.alloc(0), footer.subarray(0, 8)];
    footer.writeUInt32LE(
      parts.reduce((sum, part) => crc32(part, sum), 0),
      8
    );
    const path = this.#path(name);
    // The same block may be written twice at once.
    const unfinished = `${path}.${++this.#writes}${UNFINISHED}`;
    try {
      await this.#makeFolder(join(path, '..'));
      await namingFile(unfinished, () => writeAll(unfinished, [raw, undo ?? Buffer.alloc(0), footer]));
      await rename(unfinished, path);
      this.#sound.add(name);
      this.#sizes.set(name, raw.length + (undo?.length ?? 0) + FOOTER_LENGTH);
      this.#keeping.kept();
    } catch (error) {
      this.#keeping.failed(error);
      // The disk may be full.
      await rm(unfinished, { force: true }).catch(() => undefined);
    }
  }

  /** A block, if there is a sound file of it. */
  async get(hash: Buffer): Promise<StoredBlock | undefined> {
    const name = toDisplayHex(hash);
    if (this.#sizes.get(name) === undefined) return undefined;
    try {
      const bytes = await readFile(this.#path(name));
      const block = readStored(bytes);
      if (block === undefined) throw new RangeError(`the file of block ${name} is damaged`);
      this.#sound.add(name);
      return block;
    } catch (error) {
      this.#keeping.lost(error);
      this.#sizes.delete(name);
      return undefined;
    }
  }

  /** Bytes of a block whose file was found sound before; undefined if it was not. */
  async part(hash: Buffer, offset: number, length: number): Promise<Buffer | undefined> {
    const name = toDisplayHex(hash);
    if (!this.#sound.has(name) || this.#sizes.get(name) === undefined) return undefined;
    try {
      return await this.#opened.read(await this.#opened.open(this.#path(name)), offset, length);
    } catch (error) {
      this.#keeping.lost(error);
      return undefined;
    }
  }

  /** Closes the files of which parts were read. */
  close(): void {
    this.#opened.close();
  }

  async #makeFolder(path: string): Promise<void> {
    if (this.#folders.has(path)) return;
    await mkdir(path, { recursive: true, mode: 0o700 });
    this.#folders.add(path);
  }

  #path(name: string): string {
    return join(this.#folder, name.slice(-FOLDER_DIGITS), name);
  }
}

/** Only the owner may read it. @throws errors of the system */
async function writeAll(path: string, parts: readonly Buffer[]): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    let left = parts.reduce((sum, part) => sum + part.length, 0);
    for (let rest = [...parts]; left > 0;) {
      const { bytesWritten } = await file.writev(rest);
      left -= bytesWritten;
      rest = left === 0 ? [] : [Buffer.concat(rest).subarray(bytesWritten)];
    }
  } finally {
    await file.close();
  }
}

/** undefined: the checksum is wrong. */
function readStored(bytes: Buffer): StoredBlock | undefined {
  const end = bytes.length - FOOTER_LENGTH;
  if (end < 0 || crc32(bytes.subarray(0, end + 8)) !== bytes.readUInt32LE(end + 8)) return undefined;
  const [rawLength, undoLength] = [bytes.readUInt32LE(end), bytes.readUInt32LE(end + 4)];
  const raw = bytes.subarray(0, rawLength);
  return undoLength === NO_UNDO ? { raw } : { raw, undo: bytes.subarray(rawLength, rawLength + undoLength) };
}
