// A pass over all records of one letter, which says how far it is.

import { setImmediate } from 'node:timers/promises';
import type { MigrationReport } from '../lib/store/migrate';
import { keyOf, lettered } from './records';
import type { Store } from '../lib/store/store';

/** Others get the event loop in between; some milliseconds of work. */
const BYTES_PER_SLICE = 256 * 1024;

/** By the first byte of the txid. */
const SLICES = 0x100;

/** A part of the whole migration, 0 to 1. */
export interface Share {
  readonly from: number;
  readonly to: number;
}

export class Passes {
  #bytes = 0;

  constructor(private readonly store: Store, private readonly report: MigrationReport) {}

  /** The records in the order of their keys. `partOf`: how much of them lies before a key, 0 to 1. */
  async *over(letter: string, { from, to }: Share, partOf: (key: Buffer) => number): AsyncGenerator<readonly [key: Buffer, value: Buffer]> {
    let left = 0;
    for await (const record of this.store.range(lettered(letter))) {
      yield record;
      const [key, value] = record;
      this.#bytes += key.length + value.length;
      left -= key.length + value.length;
      if (left > 0) continue;
      left = BYTES_PER_SLICE;
      this.report({ part: from + (to - from) * partOf(key), bytes: this.#bytes });
      await setImmediate();
    }
  }

  /** Gives the room of deleted records back, whose keys go on with a txid: in slices, for whoever closes the store waits for one of them. */
  async compact(letter: string, { from, to }: Share): Promise<void> {
    const { lt: end } = lettered(letter);
    for (let slice = 0; slice < SLICES; slice++) {
      this.report({ part: from + (to - from) * slice / SLICES, bytes: this.#bytes });
      const next = slice + 1;
      await this.store.compact({ gte: keyOf(letter, Buffer.of(slice)), lt: next < SLICES ? keyOf(letter, Buffer.of(next)) : end });
    }
  }

  /** For keys that go on with a height. */
  async partByHeight(letter: string): Promise<(key: Buffer) => number> {
    const [lowest, highest] = [await this.#firstHeight(letter, false), await this.#firstHeight(letter, true)];
    return (key) => (key.readUInt32BE(1) - lowest) / (highest - lowest + 1);
  }

  async #firstHeight(letter: string, reverse: boolean): Promise<number> {
    for await (const [key] of this.store.range({ ...lettered(letter), limit: 1, reverse })) return key.readUInt32BE(1);
    return 0;
  }
}

/** For keys that go on with a txid: those are spread evenly. */
export function partByTxid(key: Buffer): number {
  return key.readUInt16BE(1) / 0x1_0000;
}
