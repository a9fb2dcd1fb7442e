// A store in memory, which is gone when the process ends.

import { MemoryLevel } from 'memory-level';
import { ENCODINGS, inSlices, LevelStore } from './level-store';
import { DamagedPageError, PAGE_LENGTH, type Pages, type TakePage } from './pages';
import type { BatchOptions, ScrubbedPart, Store, StoreWrite } from './store';

export class MemoryStore extends LevelStore<MemoryLevel<Buffer, Buffer>> implements Store {
  readonly pages = new MemoryPages(() => {
    try {
      this.requireOpen();
    } catch (error) {
      throw this.failure('read', error);
    }
  });

  constructor() {
    super('memory');
  }

  /** A store that is opened again after `close` still has its content. */
  open(): Promise<void> {
    return this.attempt('open', () => (this.engine ??= new MemoryLevel(ENCODINGS)).open());
  }

  batch(writes: Iterable<StoreWrite>, { onTaken }: BatchOptions): Promise<void> {
    return this.attempt('write', async () => {
      const batch = this.requireEngine().batch();
      try {
        // Copies: the engine keeps the buffers that it is given.
        await inSlices(writes, (write) => {
          if (write.type === 'put') batch.put(Buffer.from(write.key), Buffer.from(write.value));
          else batch.del(Buffer.from(write.key));
        });
        onTaken?.();
        await batch.write();
      } finally {
        await batch.close();
      }
    });
  }

  /** Does nothing: all uses are the same in memory. */
  prepareFor(): Promise<void> {
    return this.attempt('open', () => this.requireOpen().open());
  }

  /** Yields nothing: there are no files. */
  async *scrub(): AsyncGenerator<ScrubbedPart> {
    yield* await Promise.resolve([]);
  }

  clear(): Promise<void> {
    return this.attempt('clear', async () => {
      await this.open();
      await this.pages.cut(0);
      await this.engine?.clear();
    });
  }

  close(): Promise<void> {
    return this.attempt('close', async () => this.engine?.close());
  }
}

class MemoryPages implements Pages {
  readonly #pages: Buffer[] = [];
  readonly #requireOpen: () => void;

  /** `requireOpen`: throws the error of a store that is not open. */
  constructor(requireOpen: () => void) {
    this.#requireOpen = requireOpen;
  }

  count(): number {
    this.#requireOpen();
    return this.#pages.length;
  }

  visit(pages: ArrayLike<number>, from: number, to: number, until: number, take: TakePage): number {
    this.#requireOpen();
    for (let at = from; at < to; at++) {
      const number = pages[at] as number; // within the list
      const page = this.#pages[number];
      if (page === undefined) throw new DamagedPageError(`page ${number} is missing`, number);
      take(at, page, 0);
      if (performance.now() > until) return at + 1;
    }
    return to;
  }

  load(pages: ArrayLike<number>, from: number, to: number, take: TakePage): Promise<void> {
    return Promise.resolve().then(() => void this.visit(pages, from, to, Infinity, take));
  }

  async write(first: number, bytes: Buffer): Promise<void> {
    await Promise.resolve();
    this.#requireOpen();
    for (let at = 0; at < bytes.length; at += PAGE_LENGTH)
      this.#pages[first + at / PAGE_LENGTH] = Buffer.from(bytes.subarray(at, at + PAGE_LENGTH));
  }

  /** Does nothing. */
  sync(): Promise<void> {
    return Promise.resolve();
  }

  cut(count: number): Promise<void> {
    if (count < this.#pages.length) this.#pages.length = count;
    return Promise.resolve();
  }
}
