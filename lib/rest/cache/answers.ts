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
  /**
   * Whether to keep what costs others their room: only what was asked for so many `times` (this
   * time included) after all that would have to go; twice when nothing would. Who goes round more
   * than there is room for would otherwise find nothing again. To be asked each time that it was
   * not there.
   */
  isWorthKeeping(key: string, byteLength: number, times: number): boolean;
}

/** How often something was asked for, since when by the cache's clock. */
interface Asked {
  readonly since: number;
  readonly times: number;
}

/** Times to ask for something; a first time says nothing. */
export const AGAIN = 2;

interface Entry {
  readonly kept: Kept;
  /** By the cache's clock, which counts what is asked for. */
  usedAt: number;
}

export class AnswerCache {
  private readonly entries: LRUCache<string, Entry>;
  private clock = 0;

  /** `maxBytes`: of everything together. */
  constructor(private readonly maxBytes: number) {
    this.entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ kept }) => kept.byteLength + ENTRY_BYTES,
      dispose: ({ kept }) => kept.onDropped?.()
    });
  }

  /** Bytes that are kept. */
  get byteLength(): number {
    return this.entries.calculatedSize;
  }

  /** `name`: one for each kind. */
  shelf<T extends Kept>(name: string): Shelf<T> {
    /** What was not there, as far back as one cache full of it. */
    const asked = new LRUCache<string, Asked>({ maxSize: this.maxBytes });
    const hasRoomFor = (byteLength: number): boolean => this.byteLength + byteLength + ENTRY_BYTES <= this.maxBytes;
    return {
      get: (key) => this.get(`${name}/${key}`) as T | undefined, // nobody else writes under this name
      set: (key, kept) => { this.set(`${name}/${key}`, kept); },
      drop: (key) => { this.entries.delete(`${name}/${key}`); },
      hasRoomFor,
      isWorthKeeping: (key, byteLength, times) => {
        const before = asked.get(key);
        const now = ++this.clock;
        const lastUse = this.lastUseOfVictims(byteLength);
        const sinceThen = before !== undefined && before.since > lastUse ? { since: before.since, times: before.times + 1 } : { since: now, times: 1 };
        asked.set(key, sinceThen, { size: byteLength + ENTRY_BYTES });
        return sinceThen.times >= (lastUse === 0 ? AGAIN : times);
      }
    };
  }

  private get(key: string): Kept | undefined {
    const entry = this.entries.get(key);
    if (entry !== undefined) entry.usedAt = ++this.clock;
    return entry?.kept;
  }

  private set(key: string, kept: Kept): void {
    this.entries.set(key, { kept, usedAt: ++this.clock });
    if (kept.byteLength + ENTRY_BYTES > this.maxBytes) kept.onDropped?.();
  }

  /** When the last of those was used that would have to go for so much; 0 when none would. */
  private lastUseOfVictims(byteLength: number): number {
    let missing = this.byteLength + byteLength + ENTRY_BYTES - this.maxBytes;
    let last = 0;
    // From the least recently used on.
    for (const entry of this.entries.rvalues()) {
      if (missing <= 0 || entry === undefined) break;
      missing -= entry.kept.byteLength + ENTRY_BYTES;
      last = entry.usedAt;
    }
    return last;
  }
}

/** The memory behind a buffer, which may be more than it shows. */
export function memoryOf(bytes: Buffer): number {
  return bytes.buffer.byteLength;
}
