// The part of the cache for answers that has what was made of the rows of scripts alone. It is right until a block changes these rows.

import { keyOf } from '../../bitcoin/hash';
import type { ScriptSnapshot } from '../../scripts/types';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';

interface CachedValue<T> extends Cached {
  readonly value: T;
  /** Of the snapshot from which it was made. */
  readonly stamp: number;
}

/** `script`: its SHA-256. */
export class RowCache<T> {
  readonly #cached: CacheSection<CachedValue<T>>;
  readonly #byteLengthOf: (value: T) => number;

  /** `name`: as for `AnswerCache.section`. `byteLengthOf`: of memory that belongs to a value alone. */
  constructor(cache: AnswerCache, name: string, byteLengthOf: (value: T) => number) {
    this.#cached = cache.section(name);
    this.#byteLengthOf = byteLengthOf;
  }

  /** What is cached, if it is right in this snapshot. */
  get(script: Buffer, snapshot: ScriptSnapshot): T | undefined {
    const cached = this.#cached.get(keyOf(script));
    return cached !== undefined && snapshot.hasSameRows(script, cached.stamp) ? cached.value : undefined;
  }

  /** What is cached, and whether it is right in this snapshot or perhaps of other rows. */
  last(script: Buffer, snapshot: ScriptSnapshot): { readonly value: T; readonly isRight: boolean } | undefined {
    const cached = this.#cached.get(keyOf(script));
    return cached && { value: cached.value, isRight: snapshot.hasSameRows(script, cached.stamp) };
  }

  /** `stamp`: of the snapshot from which the value was made. */
  set(script: Buffer, stamp: number, value: T): void {
    this.#cached.set(keyOf(script), { value, stamp, byteLength: this.#byteLengthOf(value) });
  }

  /** As `set`, if the script was asked for before. */
  setIfAskedBefore(script: Buffer, stamp: number, make: () => T): void {
    this.#cached.setIfAskedBefore(keyOf(script), () => {
      const value = make();
      return { value, stamp, byteLength: this.#byteLengthOf(value) };
    });
  }
}
