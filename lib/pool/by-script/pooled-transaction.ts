// A transaction of the pool as the pool by script keeps it: as little as possible besides its bytes, which are shared with the node.

import { ByteReader, LONGEST_COMPACT_SIZE, writeCompactSize } from '../../bitcoin/reader';
import { scanWholeTransaction, type ScannedTransaction, VALUE_LENGTH, WEIGHT_PER_VBYTE } from '../../bitcoin/transaction';
import type { PoolCoin, PoolTransaction } from '../../node/types/pool';

const TWO_TO_32 = 0x1_0000_0000;

export const NO_PARENTS: readonly PooledTransaction[] = [];

/** Readable even after the transaction has left the pool. Nothing but its parents changes once it is in the pool. */
export class PooledTransaction {
  readonly txid: Buffer;
  /** Serialized, witness included. */
  readonly raw: Buffer;
  readonly fee: number;
  /** As in a block (BIP141). */
  readonly weight: number;
  /**
   * The transactions from which it spends and which are in the pool too: while there are any, it has an unconfirmed parent. The pool puts
   * another list in place of this one, and never changes a list: whoever has one knows the parents of that moment.
   */
  parents = NO_PARENTS;
  /**
   * The scripts that it touches, each as its SHA-256 in a latin1 string. They are not computed when a parent enters or leaves, since a parent
   * may have thousands of children.
   */
  scripts: readonly string[] = [];
  /** The spent outputs, packed: a latin1 string has a third of the overhead of a Buffer. */
  readonly #spent: string;

  /** @throws MalformedBytesError */
  constructor({ txid, raw, coins }: PoolTransaction) {
    const transaction = scanWholeTransaction(raw);
    this.txid = txid;
    this.raw = raw;
    this.weight = transaction.weight;
    this.fee = sum(coins) - sum(transaction.outputs);
    this.#spent = packed(coins);
  }

  /** Weight in virtual bytes, rounded up. */
  get vsize(): number {
    return Math.ceil(this.weight / WEIGHT_PER_VBYTE);
  }

  /** Satoshis per virtual byte, neither of them rounded. */
  get feeRate(): number {
    return this.fee / (this.weight / WEIGHT_PER_VBYTE);
  }

  /** Parsed on each call. */
  get transaction(): ScannedTransaction {
    return scanWholeTransaction(this.raw);
  }

  /** The outputs that it spends, in the order of its inputs; unpacked on each call. */
  get spent(): PoolCoin[] {
    const reader = new ByteReader(Buffer.from(this.#spent, 'latin1'));
    const coins: PoolCoin[] = [];
    while (reader.remaining > 0) coins.push({ value: reader.u64(), script: reader.bytes(reader.compactSize()) });
    return coins;
  }
}

function sum(coins: readonly { readonly value: number }[]): number {
  let total = 0;
  for (const { value } of coins) total += value;
  return total;
}

/** For each coin: value (64 bits), length of the script, script. */
function packed(coins: readonly PoolCoin[]): string {
  let most = 0;
  for (const { script } of coins) most += VALUE_LENGTH + LONGEST_COMPACT_SIZE + script.length;
  const bytes = Buffer.allocUnsafe(most);
  let at = 0;
  for (const { value, script } of coins) {
    at = bytes.writeUInt32LE(value % TWO_TO_32, at);
    at = bytes.writeUInt32LE(Math.floor(value / TWO_TO_32), at);
    at = writeCompactSize(bytes, script.length, at);
    at += script.copy(bytes, at);
  }
  return bytes.toString('latin1', 0, at);
}
