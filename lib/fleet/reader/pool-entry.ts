// A transaction of the replicated pool: what the log says of it, and what follows from its bytes.

import { LAST_REPLACEABLE_SEQUENCE, type ScannedInput, type ScannedTransaction } from '../../bitcoin/transaction';
import type { PoolAdd } from '../messages/records';
import type { PoolCoin, PoolEntry, PoolTransaction } from '../../node/types/pool';

/** The fields of the log that may change while the entry is in the pool, apart from the modified fee. */
type Changed = Pick<PoolEntry, 'height' | 'isUnbroadcast'>;

export class ReplicaEntry implements PoolEntry, PoolTransaction {
  readonly txid: Buffer;
  readonly raw: Buffer;
  readonly coins: readonly PoolCoin[];
  readonly inputs: readonly ScannedInput[];
  readonly size: number;
  readonly adjustedWeight: number;
  readonly fee: number;
  readonly time: number;
  readonly height: number;
  readonly isUnbroadcast: boolean;
  /** The only field that changes. */
  modifiedFee: number;
  readonly #transaction: ScannedTransaction;
  #wtxid: Buffer | undefined;

  /** @throws MalformedBytesError */
  constructor(transaction: ScannedTransaction, add: Omit<PoolAdd, 'type' | 'raw'>) {
    this.#transaction = transaction;
    this.txid = transaction.txid;
    this.raw = transaction.raw;
    this.inputs = transaction.inputs;
    this.coins = add.coins;
    this.size = add.size;
    this.adjustedWeight = add.adjustedWeight;
    this.fee = add.fee;
    this.time = add.time;
    this.height = add.height;
    this.isUnbroadcast = add.isUnbroadcast;
    this.modifiedFee = add.modifiedFee;
  }

  get wtxid(): Buffer {
    return (this.#wtxid ??= this.#transaction.wtxid);
  }

  get weight(): number {
    return this.#transaction.weight;
  }

  get spends(): readonly Buffer[] {
    return this.inputs.map(({ txid }) => txid);
  }

  get signalsReplacement(): boolean {
    return this.inputs.some(({ sequence }) => sequence <= LAST_REPLACEABLE_SEQUENCE);
  }

  get outputCount(): number {
    return this.#transaction.outputs.length;
  }

  output(index: number): PoolCoin | undefined {
    const output = this.#transaction.outputs[index];
    return output && { value: output.value, script: output.script };
  }

  /** The same transaction with other facts of the log. */
  with(changed: Changed): ReplicaEntry {
    return new ReplicaEntry(this.#transaction, { ...this.#facts(), ...changed });
  }

  #facts(): Omit<PoolAdd, 'type' | 'raw'> {
    const { coins, size, adjustedWeight, fee, time, height, isUnbroadcast, modifiedFee } = this;
    return { coins, size, adjustedWeight, fee, time, height, isUnbroadcast, modifiedFee };
  }
}
