// Pages in a file. After each page comes its CRC-32, 4, which begins with the page's number: so a page that was altered is found, and also one
// that stands in another's place.

import { close, constants, fdatasync, fstatSync, ftruncate, openSync, read, readSync, rmSync, write } from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { isMissingFile, systemCodeOf } from '../system/system-errors';
import { notOpen } from './level-store';
import { PageCache } from './page-cache';
import { DamagedPageError, PAGE_LENGTH, type Pages, type TakePage } from './pages';
import { syncToDisk } from '../system/sync-to-disk';
import type { StoreError } from './errors';
import type { ScrubbedPart } from './store';

const STORED_LENGTH = PAGE_LENGTH + 4;
/** Pages that are no further apart are read together: copying those between them takes less than another call of the system. */
const NEAR = 16;
const MOST_TOGETHER = 128;
/** Reads at the same time, off the event loop. */
const READS_AT_ONCE = 16;
/** Pages that are checked between two turns of the event loop: 0.4 ms. */
const CHECKED_TOGETHER = 1_536;
/** Only the owner may read and write. */
const MODE = 0o600;

const [closeFile, readFile, writeFile, syncData, truncateFile] = [
  promisify(close),
  promisify(read),
  promisify(write),
  promisify(fdatasync),
  promisify(ftruncate)
];

/** Consecutive pages. */
interface Run {
  readonly first: number;
  readonly count: number;
}

/** A run with pages of a list, from place `from` to `to`. */
interface ListedRun extends Run {
  readonly from: number;
  readonly to: number;
}

/** The error for a caller, made of what was attempted and of an error of the system. */
export type FailureOf = (action: string, error: unknown) => StoreError;

export class PageFile implements Pages {
  readonly #path: string;
  readonly #failureOf: FailureOf;
  /** For reads that block the event loop. */
  readonly #bytes = Buffer.allocUnsafeSlow(MOST_TOGETHER * STORED_LENGTH);
  /** Of pages that were read in this way: others may be written meanwhile. */
  readonly #cache = new PageCache();
  #isOpen = false;
  /** Undefined also if there is no file. */
  #file: number | undefined;
  /** The folder does not have the file on the disk yet. */
  #isNew = false;
  /** Pages that are being written or cut off, which is done by one call at a time. */
  #changing: Run | undefined;
  /** Calls off the event loop that are in progress. Never reject. */
  readonly #working = new Set<Promise<unknown>>();

  constructor(path: string, failureOf: FailureOf) {
    this.#path = path;
    this.#failureOf = failureOf;
  }

  /** Opens the file, if there is one. @throws errors of the system */
  open(): void {
    this.#isOpen = true;
    try {
      this.#file ??= openSync(this.#path, constants.O_RDWR);
    } catch (error) {
      if (!isMissingFile(error)) throw error;
    }
  }

  /** Waits for calls in progress. @throws errors of the system */
  async close(): Promise<void> {
    const file = this.#file;
    this.#isOpen = false;
    this.#file = undefined;
    this.#cache.clear();
    while (this.#working.size > 0) await Promise.all(this.#working);
    if (file !== undefined) await closeFile(file);
  }

  /** Closes and deletes it. @throws errors of the system */
  async remove(): Promise<void> {
    await this.close();
    rmSync(this.#path, { force: true });
  }

  /** Bytes of the file; 0 while it is not open. */
  get size(): number {
    return this.#file === undefined ? 0 : fstatSync(this.#file).size;
  }

  count(): number {
    return this.#attempt('read', undefined, () => Math.floor(this.size / STORED_LENGTH));
  }

  visit(pages: ArrayLike<number>, from: number, to: number, until: number, take: TakePage): number {
    for (let at = from; at < to;) {
      const cached = this.#cache.find(pages[at] as number); // within the list
      if (cached >= 0) {
        take(at++, this.#cache.bytes, cached);
        continue;
      }
      const run = runAt(pages, at, to);
      this.#take(pages, run, this.#bytes, this.#readNow(run), take);
      this.#keep(pages, run);
      at = run.to;
      if (at < to && performance.now() > until) return at;
    }
    return to;
  }

  async load(pages: ArrayLike<number>, from: number, to: number, take: TakePage): Promise<void> {
    for (let at = from; at < to;) {
      const runs: ListedRun[] = [];
      for (; at < to && runs.length < READS_AT_ONCE; at = runs.at(-1)?.to ?? to) runs.push(runAt(pages, at, to));
      const found = await Promise.all(runs.map((run) => this.#read(run)));
      for (const [i, bytes] of found.entries()) this.#take(pages, runs[i] as ListedRun, bytes, bytes.length, take); // one for each
    }
  }

  async write(first: number, bytes: Buffer): Promise<void> {
    const stored = Buffer.allocUnsafe((bytes.length / PAGE_LENGTH) * STORED_LENGTH);
    for (let from = 0, to = 0; from < bytes.length; from += PAGE_LENGTH, to += STORED_LENGTH) {
      const page = bytes.subarray(from, from + PAGE_LENGTH);
      page.copy(stored, to);
      stored.writeUInt32BE(crc32(page, first + from / PAGE_LENGTH), to + PAGE_LENGTH);
    }
    await this.#change({ first, count: bytes.length / PAGE_LENGTH }, async () => {
      const file = this.#file ?? this.#make();
      for (let at = 0; at < stored.length;)
        at += (await writeFile(file, stored, at, stored.length - at, first * STORED_LENGTH + at)).bytesWritten;
    });
  }

  sync(): Promise<void> {
    return this.#work('write', async () => {
      if (this.#file !== undefined) await syncData(this.#file);
      if (!this.#isNew) return;
      await syncToDisk(dirname(this.#path));
      this.#isNew = false;
    });
  }

  cut(count: number): Promise<void> {
    return this.#change({ first: count, count: Infinity }, async () => {
      const length = count * STORED_LENGTH;
      if (this.#file !== undefined && this.size > length) await truncateFile(this.#file, length);
    });
  }

  /** Checks all pages, about a megabyte at a time. `others`: bytes of other files that are checked in the same pass. @throws DamagedPageError */
  async *scrub(others: number): AsyncGenerator<ScrubbedPart, void> {
    for (let first = 0; first < this.count(); first += CHECKED_TOGETHER) {
      const bytes = await this.#read({ first, count: Math.min(CHECKED_TOGETHER, this.count() - first) });
      for (let at = 0, page = first; at + STORED_LENGTH <= bytes.length; at += STORED_LENGTH, page++)
        if (!isSound(bytes, at, page)) await this.#checkAgain(page);
      yield { count: bytes.length, total: others + this.size };
    }
  }

  /** For a page that may have been read while it was written, or has been cut off. @throws DamagedPageError */
  async #checkAgain(page: number): Promise<void> {
    while (this.#isChanging(page)) await Promise.all(this.#working);
    if (page >= this.count()) return;
    this.#cache.drop(page, page + 1);
    this.visit([page], 0, 1, Infinity, () => undefined);
  }

  #isChanging(page: number): boolean {
    const { first, count } = this.#changing ?? { first: 0, count: 0 };
    return page >= first && page < first + count;
  }

  #change(run: Run, change: () => Promise<void>): Promise<void> {
    return this.#work('write', async () => {
      this.#changing = run;
      try {
        await change();
      } finally {
        this.#changing = undefined;
        this.#cache.drop(run.first, run.first + run.count);
      }
    });
  }

  #make(): number {
    this.#isNew = true;
    return (this.#file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, MODE));
  }

  /** Reads into the buffer. Returns how many bytes there are. */
  #readNow({ first, count }: Run): number {
    return this.#attempt('read', first, () =>
      this.#file === undefined ? 0 : readSync(this.#file, this.#bytes, 0, count * STORED_LENGTH, first * STORED_LENGTH)
    );
  }

  /** Keeps the pages of a run that were read into the buffer. */
  #keep(pages: ArrayLike<number>, { from, to, first }: ListedRun): void {
    for (let at = from; at < to; at++) {
      const page = pages[at] as number; // within the list
      if (this.#cache.find(page) < 0) this.#cache.put(page, this.#bytes, (page - first) * STORED_LENGTH);
    }
  }

  /** Fewer bytes if the file ends before. */
  #read({ first, count }: Run): Promise<Buffer> {
    return this.#work(
      'read',
      async () => {
        const bytes = Buffer.allocUnsafe(count * STORED_LENGTH);
        if (this.#file === undefined) return bytes.subarray(0, 0);
        const { bytesRead } = await readFile(this.#file, bytes, 0, bytes.length, first * STORED_LENGTH);
        return bytes.subarray(0, bytesRead);
      },
      first
    );
  }

  /** `length`: of the bytes that were read. @throws DamagedPageError */
  #take(pages: ArrayLike<number>, { from, to, first }: ListedRun, bytes: Buffer, length: number, take: TakePage): void {
    let checked = -1;
    for (let at = from; at < to; at++) {
      const page = pages[at] as number; // within the list
      const start = (page - first) * STORED_LENGTH;
      if (page !== checked) {
        if (start + STORED_LENGTH > length) throw this.#damaged(page, 'is missing');
        if (!isSound(bytes, start, page)) throw this.#damaged(page, 'does not have its checksum');
        checked = page;
      }
      take(at, bytes, start);
    }
  }

  #attempt<T>(action: string, page: number | undefined, run: () => T): T {
    try {
      if (!this.#isOpen) notOpen();
      return run();
    } catch (error) {
      throw this.#failure(action, page, error);
    }
  }

  /** Work off the event loop, which closing waits for. */
  async #work<T>(action: string, run: () => Promise<T>, page?: number): Promise<T> {
    const work = this.#attempt(action, page, run);
    const settled: Promise<unknown> = work.catch(() => undefined).finally(() => this.#working.delete(settled));
    this.#working.add(settled);
    try {
      return await work;
    } catch (error) {
      throw this.#failure(action, page, error);
    }
  }

  /** `page`: the first one that was to be read. */
  #failure(action: string, page: number | undefined, error: unknown): StoreError {
    // A bad sector.
    if (page !== undefined && systemCodeOf(error) === 'EIO') return this.#damaged(page, 'cannot be read', error);
    return this.#failureOf(action, error);
  }

  #damaged(page: number, what: string, cause?: unknown): DamagedPageError {
    return new DamagedPageError(`${basename(this.#path)}: page ${page} ${what}`, page, { cause });
  }
}

/** The next run of a list of pages. */
function runAt(pages: ArrayLike<number>, from: number, end: number): ListedRun {
  const first = pages[from] as number; // there is one
  let last = first;
  let to = from + 1;
  for (; to < end; to++) {
    const page = pages[to] as number; // within the list
    if (page - last > NEAR || page - first >= MOST_TOGETHER) break;
    last = page;
  }
  return { from, to, first, count: last - first + 1 };
}

function isSound(bytes: Buffer, start: number, page: number): boolean {
  return crc32(bytes.subarray(start, start + PAGE_LENGTH), page) === bytes.readUInt32BE(start + PAGE_LENGTH);
}
