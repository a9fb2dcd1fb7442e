// Pages that were read lately, so that they need neither a call of the system nor a checksum again. Each page has one place, which follows from
// its number, and pages that share a place take turns in it: that costs less than keeping an order of use.

import { PAGE_LENGTH } from './pages';

/** 16 MB: the txids of a day of the main network. */
export const CACHED_PAGES = 32_768;

export class PageCache {
  /** By place: the page's number plus 1; 0: there is none. */
  readonly #numbers = new Uint32Array(CACHED_PAGES);
  /** Made for the first page: not every store has pages. */
  #bytes: Buffer | undefined;

  /** The bytes of all places. */
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.allocUnsafeSlow(CACHED_PAGES * PAGE_LENGTH));
  }

  /** Where the page begins in `bytes`; -1: it is not there. */
  find(page: number): number {
    const place = page % CACHED_PAGES;
    return this.#numbers[place] === page + 1 ? place * PAGE_LENGTH : -1;
  }

  /** Keeps the page that begins at `start`, in the place of another one. */
  put(page: number, bytes: Buffer, start: number): void {
    const place = page % CACHED_PAGES;
    this.#numbers[place] = page + 1;
    bytes.copy(this.bytes, place * PAGE_LENGTH, start, start + PAGE_LENGTH);
  }

  /** Forgets the pages from `first` to before `end`. */
  drop(first: number, end: number): void {
    if (end - first < CACHED_PAGES) for (let page = first; page < end; page++) this.#numbers[page % CACHED_PAGES] = 0;
    else this.#numbers.fill(0);
  }

  /** Forgets all pages, and gives the memory back. */
  clear(): void {
    this.#numbers.fill(0);
    this.#bytes = undefined;
  }
}
