// A transaction that wants to enter the pool: as it came, and with the coins that it spends.

import { keyOf } from '../bitcoin/hash';
import { WEIGHT_PER_VBYTE, type ScannedInput, type ScannedOutput, type ScannedTransaction } from '../bitcoin/transaction';
import { Spend } from '../taproot/spend';
import { adjustedWeight, sigopCostOf } from './sigops';

/** A transaction as it came. Its parts are found once. */
export class Offered {
  readonly txid: Buffer;
  /** The txid as a key of maps. */
  readonly key: string;
  readonly wtxid: Buffer;
  readonly version: number;
  readonly inputs: readonly ScannedInput[];
  readonly outputs: readonly ScannedOutput[];

  constructor(readonly transaction: ScannedTransaction) {
    const { txid, wtxid, version, inputs, outputs } = transaction;
    this.txid = txid;
    this.key = keyOf(txid);
    this.wtxid = wtxid;
    this.version = version;
    this.inputs = inputs;
    this.outputs = outputs;
  }
}

/** A coin that a transaction spends. */
export interface SpentCoin {
  /** Satoshis. */
  readonly value: number;
  readonly script: Buffer;
  /** Of its block; undefined: it is an output of the pool. */
  readonly height: number | undefined;
  readonly isCoinbase: boolean;
}

/** A transaction with the coins that it spends. */
export class Candidate {
  readonly spend: Spend;
  readonly fee: number;
  /** Signature operations as blocks count them (BIP141). */
  readonly sigopCost: number;
  /** The weight by which the pool judges it: more than its weight if it has many signature operations. */
  readonly weight: number;
  /** Virtual bytes, of that weight. */
  readonly size: number;

  /** `coins`: one for each input. */
  constructor(
    readonly offered: Offered,
    readonly coins: readonly SpentCoin[]
  ) {
    this.spend = new Spend(offered.transaction, coins);
    this.fee = sumOf(coins) - sumOf(offered.outputs);
    this.sigopCost = sigopCostOf(offered.outputs, this.spend);
    this.weight = adjustedWeight(offered.transaction.weight, this.sigopCost);
    this.size = Math.ceil(this.weight / WEIGHT_PER_VBYTE);
  }
}

const sumOf = (outputs: readonly { readonly value: number }[]): number => outputs.reduce((sum, { value }) => sum + value, 0);
