// Files of which parts are read again and again. Those read last stay open, since opening and closing a file costs more than twice as much as a
// read. What the system has in memory is read at once, in a fifth of the time of a trip through the thread pool; a slow disk soon spends the
// allowance for that.

import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { TurnAllowance } from '../turns/turn-allowance';

/** Enough for the newest blocks of the main network, some two months of them, with bcoin's files of 128 MB. */
const MOST_OPEN = 64;

/** Between two looks whether open files were deleted: for so long a deleted one may still be read. */
const LOOK_MS = 1_000;

/** Longer parts are never read at once: the trip through the thread pool is little beside reading them. */
const MOST_AT_ONCE = 65_536;

const [openFile, readFile] = [promisify(fs.open), promisify(fs.read)];

/** Closed when it is no longer kept, and nobody reads it. */
export interface OpenFile {
  readonly path: string;
  readonly descriptor: number;
  readers: number;
  isCached: boolean;
  isClosed: boolean;
}

export class OpenFiles {
  readonly #allowance = new TurnAllowance();
  #lookedAt = 0;
  readonly #cached = new LRUCache<string, OpenFile>({
    max: MOST_OPEN,
    dispose: (file) => {
      file.isCached = false;
      closeUnused(file);
    }
  });

  /** Opens the file that has this path now. @throws an error of the system */
  async open(path: string): Promise<OpenFile> {
    this.#look();
    const known = this.#cached.get(path);
    if (known !== undefined && !this.#closeIfDeleted(known)) return known;
    const file = { path, descriptor: await openFile(path, 'r'), readers: 0, isCached: true, isClosed: false };
    this.#cached.set(path, file);
    return file;
  }

  /** Whether the file is still open, and was not deleted some time ago. */
  isOpen(file: OpenFile): boolean {
    this.#look();
    return file.isCached;
  }

  /** @throws an error of the system, RangeError when the file ends too early */
  async read(wanted: OpenFile, position: number, length: number): Promise<Buffer> {
    // It was open just now, but others may have been opened since.
    let file = wanted;
    while (file.isClosed) file = await this.open(file.path);
    file.readers++;
    if (file.isCached) this.#cached.get(file.path);
    try {
      const bytes = Buffer.allocUnsafeSlow(length);
      const bytesRead =
        length > MOST_AT_ONCE || this.#allowance.isSpent
          ? (await readFile(file.descriptor, bytes, 0, length, position)).bytesRead
          : this.#allowance.read((at) => fs.readSync(file.descriptor, bytes, 0, length, at), position);
      if (bytesRead !== length) throw new RangeError(`expected ${length} bytes at ${position} of ${file.path}, got ${bytesRead}`);
      return bytes;
    } finally {
      file.readers--;
      closeUnused(file);
    }
  }

  /** Closes all. A later read opens its file again. */
  close(): void {
    this.#cached.clear();
  }

  /** Closes those that were deleted: the system keeps their bytes as long as they are open. */
  #look(): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    for (const file of [...this.#cached.values()]) this.#closeIfDeleted(file);
  }

  /** Says whether it was deleted: another file may have its path by now. */
  #closeIfDeleted(file: OpenFile): boolean {
    const isDeleted = fs.fstatSync(file.descriptor).nlink === 0;
    if (isDeleted) this.#cached.delete(file.path);
    return isDeleted;
  }
}

function closeUnused(file: OpenFile): void {
  if (file.readers > 0 || file.isCached || file.isClosed) return;
  file.isClosed = true;
  fs.close(file.descriptor, () => undefined);
}
