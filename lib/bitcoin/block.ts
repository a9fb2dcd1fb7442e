// Finds the parts of a serialized block: its header and transactions, without copying them.

import { hash256 } from './hash';
import { HEADER_LENGTH, previousHashOf } from './header';
import { ByteReader, MalformedBytesError } from './reader';
import { scanTransaction, type ScannedTransaction } from './transaction';

export interface ScannedBlock {
  /** 32 bytes in wire order. */
  readonly hash: Buffer;
  /** The 80 bytes, a view. */
  readonly header: Buffer;
  /** 32 bytes in wire order, a view. */
  readonly previousHash: Buffer;
  readonly transactions: readonly ScannedTransaction[];
  /** Without witnesses. */
  readonly strippedLength: number;
  readonly length: number;
}

/** Scans bytes that are one block and nothing else. @throws MalformedBytesError */
export function scanBlock(bytes: Buffer): ScannedBlock {
  const reader = new ByteReader(bytes);
  const header = reader.bytes(HEADER_LENGTH);
  const count = reader.compactSize();
  let end = reader.offset;
  let strippedLength = end;
  const transactions: ScannedTransaction[] = [];
  for (let i = 0; i < count; i++) {
    const transaction = scanTransaction(bytes, end);
    transactions.push(transaction);
    end += transaction.length;
    strippedLength += transaction.strippedLength;
  }
  if (end !== bytes.length)
    throw new MalformedBytesError('the end of the block', `${bytes.length - end} more bytes`, end);
  return { hash: hash256(header), header, previousHash: previousHashOf(header), transactions, strippedLength, length: bytes.length };
}

/** Where each transaction of a block begins; last, where the block ends. @throws MalformedBytesError */
export function transactionOffsets(bytes: Buffer): Uint32Array {
  const reader = new ByteReader(bytes, HEADER_LENGTH);
  const count = reader.compactSize();
  const offsets = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    offsets[i] = reader.offset;
    reader.skip(scanTransaction(bytes, reader.offset).length);
  }
  offsets[count] = reader.offset;
  return offsets;
}

/** The serialization without witnesses; `raw` itself when it has none. @throws MalformedBytesError */
export function blockWithoutWitness(raw: Buffer): Buffer {
  const { transactions, strippedLength, length } = scanBlock(raw);
  const [first] = transactions;
  if (first === undefined || strippedLength === length)
    return raw;
  return Buffer.concat([raw.subarray(0, first.offset), ...transactions.flatMap((transaction) => transaction.strippedParts())], strippedLength);
}
