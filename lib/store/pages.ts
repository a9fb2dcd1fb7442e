// Pages beside the records of a store, for data that stands at computable places: all pages have the same length, and none is searched for.

import { StoreError } from './errors';

/** Bytes of a page. */
export const PAGE_LENGTH = 512;

/** A page is missing, or is not what was written. */
export class DamagedPageError extends StoreError {
  constructor(
    message: string,
    readonly page: number,
    options?: ErrorOptions
  ) {
    super('corrupt', message, options);
  }
}

/** Called with the place of a page in a list, and with bytes that have the page at `start`; they are valid until it returns. */
export type TakePage = (at: number, bytes: Buffer, start: number) => void;

/**
 * The pages of a store. What was written is still there after the process was killed; after a power cut only what was written before the
 * last `sync`. Calls throw StoreError (closed) while the store is not open.
 */
export interface Pages {
  /** How many whole pages there are, from page 0 up. */
  count(): number;
  /**
   * Reads the pages whose numbers are in `pages` from place `from` to `to`, in ascending order: those that are near each other together.
   * Blocks the event loop, and stops after the first read that ends later than `until` (performance.now). Returns the place where it has
   * stopped. @throws DamagedPageError
   */
  visit(pages: ArrayLike<number>, from: number, to: number, until: number, take: TakePage): number;
  /** As `visit`, off the event loop: for pages that a slow disk may have to be waited for. @throws DamagedPageError */
  load(pages: ArrayLike<number>, from: number, to: number, take: TakePage): Promise<void>;
  /** Writes whole pages from page `first` on. One call at a time. */
  write(first: number, bytes: Buffer): Promise<void>;
  /** Waits until all that was written is on the disk itself. */
  sync(): Promise<void>;
  /** Removes all pages from page `count` on. */
  cut(count: number): Promise<void>;
}
