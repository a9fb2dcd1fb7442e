// What is cached for answers. No entry has a time to live: it is right or it is not.
//
//   what                               found by                 bounded by             dropped
//   raw blocks (blocks.ts)             hash                     the cache for answers  least recently used first; unread once pruned
//   replies (replies.ts)               question with its body   the cache for answers  least recently used first; unread after a block
//   headers as JSON (headers.ts)       height of the first      the cache for answers  least recently used first; unread after a fork
//   JSON and hex of blocks, JSON of    block and its place,     36 MiB beside it       when the buffer is needed for another text
//   many headers (texts.ts)            first one and tip
//   what blocks spend (spent.ts)       hash                     the cache for answers  as raw blocks
//   what scripts have (lib/esplora)    SHA-256 of the script  the cache for answers  as replies; totals go on from their block
//   spends (lib/esplora)               outpoint              the cache for answers  as replies; unread once their block is gone
//   transactions (lib/esplora)         block and txid         the cache for answers  least recently used first
//   the pool's texts (pool-texts.ts)   state of the pool        the pool               when the pool changes
//   chaininfo (chaininfo.ts)           state of index and node  one                    when that changes
//
// The cache for answers takes what is asked for a second time or took long to make. It drops the least recently used entries first.

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

/** The part of the cache that holds one kind of value. */
export interface Shelf<T extends Cached> {
  get(key: string): T | undefined;
  /** Caches the value if the key was offered before. */
  offer(key: string, value: () => T): void;
  /** Caches the value at once: for values that took long to make. */
  keep(key: string, value: T): void;
}

/** The cache for answers: all kinds together, bounded in bytes. */
export class AnswerCache {
  readonly #entries: LRUCache<string, Cached>;
  /** Fingerprints of keys that were offered, each in the slot that it selects. On a collision a key is cached one request too early. */
  readonly #offered = new Uint32Array(FINGERPRINTS);

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ byteLength }) => byteLength + ENTRY_BYTES });
  }

  /** Bytes that are cached. */
  get byteLength(): number {
    return this.#entries.calculatedSize;
  }

  /** `name`: one for each kind. */
  shelf<T extends Cached>(name: string): Shelf<T> {
    return {
      get: (key) => this.#entries.get(`${name}/${key}`) as T | undefined, // nobody else writes under this name
      offer: (key, value) => {
        const fingerprint = fingerprintOf(key);
        const slot = fingerprint % FINGERPRINTS;
        if (this.#offered[slot] === fingerprint) this.#entries.set(`${name}/${key}`, value());
        else this.#offered[slot] = fingerprint;
      },
      keep: (key, value) => {
        this.#entries.set(`${name}/${key}`, value);
      }
    };
  }
}

/** A copy with memory of its own: a view, or unused space at its end, would keep more memory in the cache. */
export function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

/** FNV-1a of the last characters, where hashes and formats are. */
function fingerprintOf(text: string): number {
  let hash = 0x811c_9dc5;
  const start = Math.max(0, text.length - FINGERPRINT_CHARACTERS);
  for (let i = start; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193);
  return hash >>> 0;
}
