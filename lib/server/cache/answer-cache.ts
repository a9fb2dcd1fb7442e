// The cache for answers. No entry has a time to live: it is right or it is not. It takes what is asked for a second time or took long to
// make, and drops the least recently used entries first. docs/architecture.md lists what is in it.

import { LRUCache } from 'lru-cache';

/** What an entry costs besides its bytes: key, objects. */
const ENTRY_BYTES = 512;

/** Questions whose fingerprints are remembered. */
const FINGERPRINTS = 65_536;
const FINGERPRINT_CHARACTERS = 32;

/** A value that knows how much memory it takes. */
export interface Cached {
  /** Bytes of the memory behind its buffers, which may be more than they show. */
  readonly byteLength: number;
}

/** How often a cache was asked for something that it had, and that it had not. */
export interface CacheUse {
  hits: number;
  misses: number;
}

/** The part of the cache that holds one kind of value. */
export interface CacheSection<T extends Cached> {
  get(key: string): T | undefined;
  /** Caches the value if the key was offered before. */
  setIfAskedBefore(key: string, value: () => T): void;
  /** Caches the value at once: for values that took long to make. */
  set(key: string, value: T): void;
}

/** The cache for answers: all kinds together, bounded in bytes. */
export class AnswerCache {
  readonly maxBytes: number;
  readonly #entries: LRUCache<string, Cached>;
  /** Fingerprints of keys that were offered, each in the slot that it selects. On a collision a key is cached one request too early. */
  readonly #offered = new Uint32Array(FINGERPRINTS);
  /** By the names of the sections. */
  readonly uses = new Map<string, CacheUse>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ byteLength }) => byteLength + ENTRY_BYTES });
  }

  get entries(): number {
    return this.#entries.size;
  }

  /** Bytes that are cached. */
  get byteLength(): number {
    return this.#entries.calculatedSize;
  }

  /** `name`: one for each kind. */
  section<T extends Cached>(name: string): CacheSection<T> {
    const use = this.uses.get(name) ?? { hits: 0, misses: 0 };
    this.uses.set(name, use);
    return {
      get: (key) => {
        const found = this.#entries.get(`${name}/${key}`) as T | undefined; // nobody else writes under this name
        if (found === undefined) use.misses++;
        else use.hits++;
        return found;
      },
      setIfAskedBefore: (key, value) => {
        const fingerprint = fingerprintOf(key);
        const slot = fingerprint % FINGERPRINTS;
        if (this.#offered[slot] === fingerprint) this.#entries.set(`${name}/${key}`, value());
        else this.#offered[slot] = fingerprint;
      },
      set: (key, value) => {
        this.#entries.set(`${name}/${key}`, value);
      }
    };
  }
}

/** FNV-1a of the last characters, where hashes and formats are. */
function fingerprintOf(text: string): number {
  let hash = 0x811c_9dc5;
  const start = Math.max(0, text.length - FINGERPRINT_CHARACTERS);
  for (let i = start; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193);
  return hash >>> 0;
}
