// What replies are made of and what was made for them, kept while there is room: one store
// for all endpoints, bounded in bytes, the least recently used leave first. What is kept says
// nothing that changes with the chain, or says of which state it is
// (docs/decisions/caches.md).

import { LRUCache } from 'lru-cache';

/** What a kept answer costs beside its bytes: key, entry, objects. */
const ENTRY_BYTES = 512;

/** Something that knows how much memory it takes. */
export interface Kept {
  /** Bytes of its buffers. */
  readonly byteLength: number;
}

/** The part of the cache that is one kind's. */
export interface Shelf<T extends Kept> {
  get(key: string): T | undefined;
  set(key: string, kept: T): void;
  drop(key: string): void;
}

export class AnswerCache {
  private readonly kept: LRUCache<string, Kept>;

  /** `maxBytes`: of everything together. */
  constructor(maxBytes: number) {
    this.kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ byteLength }) => byteLength + ENTRY_BYTES });
  }

  /** Bytes that are kept. */
  get byteLength(): number {
    return this.kept.calculatedSize;
  }

  /** `name`: one for each kind. */
  shelf<T extends Kept>(name: string): Shelf<T> {
    const { kept } = this;
    return {
      get: (key) => kept.get(`${name}/${key}`) as T | undefined, // nobody else writes under this name
      set: (key, value) => { kept.set(`${name}/${key}`, value); },
      drop: (key) => { kept.delete(`${name}/${key}`); }
    };
  }
}

/** The memory behind a buffer, which may be more than it shows. */
export function memoryOf(bytes: Buffer): number {
  return bytes.buffer.byteLength;
}
