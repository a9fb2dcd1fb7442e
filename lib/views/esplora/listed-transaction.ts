// A transaction in a few figures, as mempool's interface lists it.

import { WEIGHT_PER_VBYTE } from '../../bitcoin/transaction';
import { toDisplayHex } from '../../bitcoin/hash';

export interface ListedTransaction {
  readonly txid: Buffer;
  readonly fee: number;
  readonly weight: number;
  readonly value: number;
  /** Satoshis per virtual byte of its chunk. */
  readonly rate: number;
  readonly flags: number;
}

interface ListedPoolTransaction extends ListedTransaction {
  /** When it entered the pool, Unix time in seconds. */
  readonly time: number;
}

/** `TransactionStripped` in node-api.interface.ts. */
export const strippedTransaction = ({ txid, fee, weight, value, rate, flags }: ListedTransaction): object => ({
  txid: toDisplayHex(txid),
  fee,
  vsize: weight / WEIGHT_PER_VBYTE,
  value,
  rate,
  flags
});

/** Rates in deltas have two places. */
const twoPlaces = (rate: number): number => Math.round(rate * 100) / 100;

/** `TransactionCompressed` in websocket.interface.ts. */
export const compressedTransaction = ({ txid, fee, weight, value, rate, flags, time }: ListedPoolTransaction): unknown[] => [
  ...[toDisplayHex(txid), fee, weight / WEIGHT_PER_VBYTE, value],
  ...[twoPlaces(rate), flags, time]
];

/** `MempoolDeltaChange` in websocket.interface.ts: nothing is accelerated. */
export const changedTransaction = ({ txid, rate, flags }: ListedTransaction): unknown[] => [toDisplayHex(txid), twoPlaces(rate), flags, 0];
