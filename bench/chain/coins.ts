// The unspent outputs of the chain under construction, in the order they were made. Tens of
// millions of them: columns of numbers, no objects.

import { FreeSlots, type Slot } from './free-slots';
import type { Random } from './random';

export interface SpendableCoin {
  /** 32 bytes in wire order, a view. */
  readonly txid: Buffer;
  readonly index: number;
  /** Index in OUTPUT_KINDS. */
  readonly kind: number;
  readonly value: number;
}

/** An amount that is large enough to be change: such coins pay where others are not enough. */
const CHANGE_VALUE = 100_000;
/** From this many coins on, picks by age are distributed evenly over the logarithm of the age. */
const YOUNGEST = 1_000;

interface Columns {
  readonly transaction: Uint32Array;
  readonly index: Uint16Array;
  /** Index in OUTPUT_KINDS. */
  readonly kind: Uint8Array;
  readonly value: Float64Array;
}

const emptyColumns = (capacity: number): Columns => ({
  transaction: new Uint32Array(capacity),
  index: new Uint16Array(capacity),
  kind: new Uint8Array(capacity),
  value: new Float64Array(capacity)
});

export class Coins {
  #columns = emptyColumns(1 << 20);
  #slots = 0;
  #txids = Buffer.alloc(32 << 18);
  #transactions = 0;
  /** Change that may be spent. */
  readonly #change: Slot[] = [];
  /** Coins that are not change and may be spent. */
  readonly #free = new FreeSlots();
  #unspent = 0;

  get unspent(): number {
    return this.#unspent;
  }

  /** Remembers the txid that the next coins belong to. */
  addTransaction(txid: Buffer): void {
    const at = this.#transactions++ * 32;
    if (at === this.#txids.length) {
      const grown = Buffer.alloc(at * 2);
      this.#txids.copy(grown);
      this.#txids = grown;
    }
    txid.copy(this.#txids, at);
  }

  /** A coin of the last transaction; it must not be spent before it is released. */
  add(index: number, kind: number, value: number): Slot {
    const slot = this.#slots++;
    if (slot === this.#columns.kind.length) this.#grow();
    const columns = this.#columns;
    columns.transaction[slot] = this.#transactions - 1;
    columns.index[slot] = index;
    columns.kind[slot] = kind;
    columns.value[slot] = value;
    this.#unspent++;
    return slot;
  }

  release(slot: Slot): void {
    if ((this.#columns.value[slot] as number) >= CHANGE_VALUE)
      this.#change.push(slot); // slots are in the columns
    else this.#free.add(slot);
  }

  /** Spends change, or any coin if there is no change left. */
  takeChange(random: Random): SpendableCoin | undefined {
    const place = random.below(this.#change.length);
    const slot = this.#change[place];
    if (slot === undefined) return this.takeByAge(random);
    const last = this.#change.pop() as Slot; // not empty
    if (last !== slot) this.#change[place] = last;
    return this.#spend(slot);
  }

  /** Spends a coin that is not change; young coins are more likely. */
  takeByAge(random: Random): SpendableCoin | undefined {
    const youngest = Math.min(YOUNGEST, this.#slots);
    const age = Math.floor(youngest * (this.#slots / youngest) ** random.unit());
    const from = this.#slots - age;
    const slot = this.#free.atOrBelow(from) ?? this.#free.atOrAbove(from + 1);
    if (slot === undefined) return undefined;
    this.#free.delete(slot);
    return this.#spend(slot);
  }

  #spend(slot: Slot): SpendableCoin {
    const { transaction, index, kind, value } = this.#columns;
    const at = (transaction[slot] as number) * 32; // slots are in the columns
    const coin = {
      txid: this.#txids.subarray(at, at + 32),
      index: index[slot] as number,
      kind: kind[slot] as number,
      value: value[slot] as number
    };
    this.#unspent--;
    return coin;
  }

  #grow(): void {
    const old = this.#columns;
    const grown = emptyColumns(old.kind.length * 2);
    grown.transaction.set(old.transaction);
    grown.index.set(old.index);
    grown.kind.set(old.kind);
    grown.value.set(old.value);
    this.#columns = grown;
  }
}
