// Coins of the base (records/base-coin.ts) that the blocks of a batch spend.

import { baseCoinKey, baseCoinOf } from '../records/base-coin';
import { OUTPOINT_WORDS } from '../records/cache-entry';
import { recordOf } from '../records/layout';
import type { Base } from '../records/base';
import type { StoreSnapshot, StoreWrite } from '../../store/store';

export class BaseSpends {
  /** Records that inputs of the current block spend, by their keys as text. */
  readonly #found = new Map<string, Buffer>();
  readonly #spent = new Set<string>();
  #undo: Buffer[] = [];

  readonly #base: Base;

  constructor(base: Base) {
    this.#base = base;
  }

  /** Looks up what some inputs of a block spend, and returns the inputs that spend no coin of the base. @throws DamagedIndexError */
  async find(inputs: Int32Array, which: readonly number[], records: StoreSnapshot): Promise<number[]> {
    const keys = which.map((input) => keyOf(inputs, input));
    const values = await records.load(keys);
    return which.filter((_, i) => {
      const [key, value] = [keys[i] as Buffer, values[i]]; // as many
      if (value === undefined || this.#spent.has(nameOf(key))) return true;
      const record = recordOf(key, value);
      if (baseCoinOf(record).height > this.#base.height) return true;
      this.#found.set(nameOf(key), record);
      return false;
    });
  }

  /** Spends the coin that was found for an input; false: none was found. */
  spend(inputs: Int32Array, input: number): boolean {
    const key = keyOf(inputs, input);
    const name = nameOf(key);
    const record = this.#found.get(name);
    if (record === undefined) return false;
    this.#found.delete(name);
    this.#spent.add(name);
    this.#undo.push(key.subarray(1), record);
    return true;
  }

  /** The coins that were spent since the last call, as a record (records/base-coin.ts). */
  takeUndo(): Buffer {
    const undo = Buffer.concat(this.#undo);
    this.#undo = [];
    return undo;
  }

  *writes(): Generator<StoreWrite> {
    for (const name of this.#spent) yield { type: 'del', key: Buffer.from(name, 'latin1') };
  }
}

function keyOf(inputs: Int32Array, input: number): Buffer {
  const outpoint = Buffer.from(inputs.buffer, inputs.byteOffset + input * OUTPOINT_WORDS * 4, OUTPOINT_WORDS * 4);
  return baseCoinKey(outpoint, outpoint.readUInt32LE(32));
}

const nameOf = (key: Buffer): string => key.toString('latin1');
