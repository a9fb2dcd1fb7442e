// The parts of a transaction that are needed to check a Payment: its txid, its outpoints and its outputs (BIP144, with witness or
// without). The library is also used without the rest of the project, so it has its own parser
// (docs/decisions/payments-transactions.md). The node checks scripts and signatures when it broadcasts.

import { createHash } from 'node:crypto';
import { PaymentError } from '../error';
import { MAX_MONEY } from './amount';

export interface Transaction {
  /** As serialized. */
  readonly bytes: Buffer;
  /** Wire order. */
  readonly txid: Buffer;
  /** 36 bytes each: txid in wire order, index in 4 bytes, little endian. */
  readonly outpoints: readonly Buffer[];
  readonly outputs: readonly { readonly amount: bigint; readonly script: Buffer }[];
}

const TXID_SIZE = 32;
const OUTPOINT_SIZE = TXID_SIZE + 4;

/**
 * @param bytes one serialized transaction and nothing after it; scripts are views into it.
 * @throws PaymentError `malformed`.
 */
export function parseTransaction(bytes: Buffer): Transaction {
  const reader = new Reader(bytes);
  const version = reader.take(4);
  const witness = bytes[4] === 0 && bytes[5] === 1;
  if (witness) reader.take(2);
  const start = reader.offset;
  const outpoints = reader.list(() => {
    const outpoint = reader.take(OUTPOINT_SIZE);
    reader.bytes();
    reader.take(4);
    return outpoint;
  });
  const outputs = reader.list(() => {
    const amount = reader.take(8).readBigUInt64LE();
    if (amount > MAX_MONEY) throw malformed(`an output of ${amount} satoshis`);
    return { amount, script: reader.bytes() };
  });
  const body = bytes.subarray(start, reader.offset);
  if (witness) outpoints.forEach(() => reader.list(() => reader.bytes()));
  const lockTime = reader.take(4);
  if (reader.offset !== bytes.length) throw malformed(`${bytes.length - reader.offset} bytes after its end`);
  if (outpoints.length === 0 || outputs.length === 0) throw malformed('no inputs or no outputs');
  return { bytes, txid: doubleSha256(version, body, lockTime), outpoints, outputs };
}

/**
 * Sorts transactions so that each comes after those from which it spends: a node accepts them in no other order.
 * @param transactions each once.
 */
export function parentsFirst(transactions: readonly Transaction[]): Transaction[] {
  const waiting = new Map(transactions.map((transaction) => [transaction.txid.toString('hex'), transaction]));
  const ordered: Transaction[] = [];
  const take = (txid: string): void => {
    const transaction = waiting.get(txid);
    if (!transaction) return;
    waiting.delete(txid);
    for (const outpoint of transaction.outpoints) take(outpoint.toString('hex', 0, TXID_SIZE));
    ordered.push(transaction);
  };
  for (const txid of [...waiting.keys()]) take(txid);
  return ordered;
}

/** A txid as it is displayed: reversed, in hex. */
export function displayTxid(txid: Buffer): string {
  return Buffer.from(txid).reverse().toString('hex');
}

class Reader {
  offset = 0;

  readonly #data: Buffer;

  constructor(data: Buffer) {
    this.#data = data;
  }

  take(length: number): Buffer {
    const end = this.offset + length;
    if (end > this.#data.length)
      throw malformed(`${length} bytes expected at ${this.offset}, ${this.#data.length - this.offset} are there`);
    const part = this.#data.subarray(this.offset, end);
    this.offset = end;
    return part;
  }

  bytes(): Buffer {
    return this.take(this.#compactSize());
  }

  /** Every item takes at least a byte, so a count that is too large fails at the end of the data. */
  list<Item>(item: () => Item): Item[] {
    const items: Item[] = [];
    for (let left = this.#compactSize(); left > 0; left--) items.push(item());
    return items;
  }

  /** Only the shortest encoding is accepted, as by nodes. */
  #compactSize(): number {
    const first = this.take(1).readUInt8();
    if (first < 0xfd) return first;
    const length = first === 0xfd ? 2 : first === 0xfe ? 4 : 8;
    const bytes = this.take(length);
    const size = length === 8 ? Number(bytes.readBigUInt64LE()) : bytes.readUIntLE(0, length);
    const smallest = length === 2 ? 0xfd : length === 4 ? 0x1_0000 : 0x1_0000_0000;
    if (size < smallest) throw malformed(`the compact size ${size} in ${length} bytes`);
    return size;
  }
}

function doubleSha256(...parts: readonly Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return createHash('sha256').update(hash.digest()).digest();
}

function malformed(what: string): PaymentError {
  return new PaymentError('malformed', `A transaction expected, ${what} came.`);
}
