// Transactions of bcoin's pool, with the coins that they spend, and its entries.

import { LAST_REPLACEABLE_SEQUENCE } from '../bitcoin/transaction';
import { adjustedWeight } from '../policy/sigops';
import { fromHost, type HostCoinView, type HostPoolEntry, type HostTransaction } from './host';
import type { PoolCoin, PoolEntry, PoolTransaction } from './types/pool';
import type { Unbroadcast } from './unbroadcast';

/** Reads fields of the node's entry only when asked: hashing all of a large pool at once would take a second. */
export class BcoinPoolEntry implements PoolEntry {
  readonly height: number;
  readonly isUnbroadcast: boolean;
  readonly #entry: HostPoolEntry;

  constructor(entry: HostPoolEntry, unbroadcast: Unbroadcast, height = entry.height) {
    this.#entry = entry;
    this.height = height;
    this.isUnbroadcast = unbroadcast.has(entry);
  }

  get txid(): Buffer {
    return this.#entry.tx.hash();
  }

  get wtxid(): Buffer {
    return this.#entry.tx.witnessHash();
  }

  get size(): number {
    return this.#entry.size;
  }

  get weight(): number {
    return this.#entry.tx.getWeight();
  }

  get adjustedWeight(): number {
    return adjustedWeight(this.weight, this.#entry.sigops);
  }

  get fee(): number {
    return this.#entry.fee;
  }

  get modifiedFee(): number {
    return this.#entry.deltaFee;
  }

  get time(): number {
    return this.#entry.time;
  }

  get spends(): readonly Buffer[] {
    return this.#entry.tx.inputs.map(({ prevout }) => fromHost(prevout.hash));
  }

  get signalsReplacement(): boolean {
    return this.#entry.tx.inputs.some(({ sequence }) => sequence <= LAST_REPLACEABLE_SEQUENCE);
  }
}

export class BcoinPoolTransaction implements PoolTransaction {
  readonly txid: Buffer;
  readonly #transaction: HostTransaction;
  readonly #view: HostCoinView;

  constructor(transaction: HostTransaction, view: HostCoinView) {
    this.txid = transaction.hash();
    this.#transaction = transaction;
    this.#view = view;
  }

  get raw(): Buffer {
    return this.#transaction.toRaw();
  }

  /** @throws RangeError for a transaction that was forced into the pool without its coins */
  get coins(): readonly PoolCoin[] {
    return this.#transaction.inputs.map(({ prevout }) => {
      const output = this.#view.getOutput(prevout);
      if (output === null) throw new RangeError('expected the coins of a transaction in the pool');
      return { value: output.value, script: output.script.toRaw() };
    });
  }
}
