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
  /** Called once it is not kept any more. */
  readonly onDropped?: () => void;
}

/** The part of the cache that is one kind's. */
export interface Shelf<T extends Kept> {
  get(key: string): T | undefined;
  set(key: string, kept: T): void;
  drop(key: string): void;
  /** Whether so much can be kept without dropping anything. */
  hasRoomFor(byteLength: number): boolean;
  /** Whether it was asked for before, and less since of this kind than the cache has room for; from now on it was. */
  isAskedAgain(key: string, byteLength: number): boolean;
}

export class AnswerCache {
  private readonly kept: LRUCache<string, Kept>;

  /** `maxBytes`: of everything together. */
  constructor(private readonly maxBytes: number) {
    this.kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ byteLength }) => byteLength + ENTRY_BYTES,
      dispose: ({ onDropped }) => onDropped?.()
    });
  }

  /** Bytes that are kept. */
  get byteLength(): number {
    return this.kept.calculatedSize;
  }

  /** `name`: one for each kind. */
  shelf<T extends Kept>(name: string): Shelf<T> {
    const { kept, maxBytes } = this;
    const asked = new LRUCache<string, true>({ maxSize: maxBytes });
    return {
      get: (key) => kept.get(`${name}/${key}`) as T | undefined, // nobody else writes under this name
      set: (key, value) => {
        kept.set(`${name}/${key}`, value);
        if (value.byteLength + ENTRY_BYTES > maxBytes) value.onDropped?.();
      },
      drop: (key) => { kept.delete(`${name}/${key}`); },
      hasRoomFor: (byteLength) => kept.calculatedSize + byteLength + ENTRY_BYTES <= maxBytes,
      isAskedAgain: (key, byteLength) => {
        const before = asked.has(key);
        asked.set(key, true, { size: byteLength + ENTRY_BYTES });
        return before;
      }
    };
  }
}

/** The memory behind a buffer, which may be more than it shows. */
export function memoryOf(bytes: Buffer): number {
  return bytes.buffer.byteLength;
}
