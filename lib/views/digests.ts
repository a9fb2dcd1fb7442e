// The hashes of a block's transactions, which cost a quarter of its JSON and never change:
// made apart from the text, so that they can be kept without it.

import type { ScannedBlock } from '../bitcoin/block';

export const HASH_LENGTH = 32;

/** Hashes of transactions, one after the other, each 32 bytes in wire order. */
export interface Digests {
  readonly txids: Buffer;
  /** With the witness (BIP141). */
  readonly wtxids: Buffer;
}

/** Yields after each transaction. */
export function* txidsOf({ transactions }: ScannedBlock): Generator<void, Buffer> {
  const txids = Buffer.allocUnsafeSlow(transactions.length * HASH_LENGTH);
  for (const [i, { txid }] of transactions.entries()) {
    txid.copy(txids, i * HASH_LENGTH);
    yield;
  }
  return txids;
}

/** The txids themselves where no transaction has a witness. Yields after each that has one. */
export function* wtxidsOf({ transactions }: ScannedBlock, txids: Buffer): Generator<void, Buffer> {
  if (!transactions.some(({ hasWitness }) => hasWitness)) return txids;
  const wtxids = Buffer.allocUnsafeSlow(txids.length);
  txids.copy(wtxids);
  for (const [i, transaction] of transactions.entries()) {
    if (!transaction.hasWitness) continue;
    transaction.wtxid.copy(wtxids, i * HASH_LENGTH);
    yield;
  }
  return wtxids;
}
