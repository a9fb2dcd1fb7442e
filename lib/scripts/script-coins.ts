// Unspent outputs of a script, in the order of the chain. There may be many, so they are columns: no object is made for each unless somebody
// wants to have it.

import { TXID_LENGTH } from '../bitcoin/transaction';
import { heightIn, indexIn } from './records/positions';

export interface ScriptCoin {
  readonly txid: Buffer;
  readonly index: number;
  /** In satoshis. */
  readonly value: number;
  readonly height: number;
  readonly coinbase: boolean;
}

/** A coin with the position of its transaction (lib/scripts/records/positions.ts). */
export interface PlacedCoin {
  readonly position: number;
  readonly txid: Buffer;
  readonly index: number;
  readonly value: number;
}

export class ScriptCoins implements Iterable<ScriptCoin> {
  constructor(
    /** Of the transactions (lib/scripts/records/positions.ts). */
    readonly positions: readonly number[],
    /** Concatenated, one for each coin. */
    readonly txids: Buffer,
    readonly indexes: readonly number[],
    /** In satoshis. */
    readonly values: readonly number[]
  ) {}

  static of(coins: readonly PlacedCoin[]): ScriptCoins {
    return new ScriptCoins(
      coins.map(({ position }) => position),
      Buffer.concat(coins.map(({ txid }) => txid)),
      coins.map(({ index }) => index),
      coins.map(({ value }) => value)
    );
  }

  get count(): number {
    return this.positions.length;
  }

  /** The coins one by one; txids are views. */
  *[Symbol.iterator](): Generator<ScriptCoin, void> {
    for (const [at, position] of this.positions.entries())
      yield {
        txid: this.#txid(at),
        index: this.indexes[at] as number, // within the columns, as the value is
        value: this.values[at] as number,
        height: heightIn(position),
        coinbase: indexIn(position) === 0
      };
  }

  /** Those at some places. */
  at(places: readonly number[]): ScriptCoins {
    const some = (column: readonly number[]): number[] => places.map((place) => column[place] as number); // there is one
    const txids = Buffer.concat(places.map((place) => this.#txid(place)));
    return new ScriptCoins(some(this.positions), txids, some(this.indexes), some(this.values));
  }

  /** Those of which `isSpent` says no. */
  without(isSpent: (txid: Buffer, index: number) => boolean): ScriptCoins {
    const left = [...this.indexes.keys()].filter((at) => !isSpent(this.#txid(at), this.indexes[at] as number)); // within the columns
    return left.length === this.count ? this : this.at(left);
  }

  #txid(at: number): Buffer {
    return this.txids.subarray(at * TXID_LENGTH, (at + 1) * TXID_LENGTH);
  }
}
