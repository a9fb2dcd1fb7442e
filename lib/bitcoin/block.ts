// Finds the header and the transactions of a serialized block without copying them, and brings a block into the one form in which
// Bitcoin Core serializes it.

import { hash256 } from './hash';
import { HEADER_LENGTH } from './header';
import { ByteReader } from './reader';
import { LOCKTIME_LENGTH, MARKER_AND_FLAG_LENGTH, readTransaction, ScannedTransaction, TXID_LENGTH, VERSION_LENGTH } from './transaction';

/** One input with an empty script, and no output. */
const SHORTEST_TRANSACTION = 51;

export interface ScannedBlock {
  /** 32 bytes in wire order. */
  readonly hash: Buffer;
  /** The 80 bytes, a view. */
  readonly header: Buffer;
  readonly transactions: readonly ScannedTransaction[];
  /** Without witnesses. */
  readonly strippedLength: number;
  readonly length: number;
}

/** Scans bytes that are one block and nothing else. `txids`: concatenated, if they are known. @throws MalformedBytesError */
export function scanBlock(bytes: Buffer, txids?: Buffer): ScannedBlock {
  const reader = new ByteReader(bytes);
  reader.skip(HEADER_LENGTH);
  const header = bytes.subarray(0, HEADER_LENGTH);
  const count = reader.compactSize();
  let strippedLength = reader.offset;
  const transactions: ScannedTransaction[] = [];
  for (let i = 0; i < count; i++) {
    const transaction = readTransaction(reader, txids?.subarray(i * TXID_LENGTH, (i + 1) * TXID_LENGTH));
    transactions.push(transaction);
    strippedLength += transaction.strippedLength;
  }
  reader.requireEnd('block');
  return { hash: hash256(header), header, transactions, strippedLength, length: bytes.length };
}

/** How many outputs a block spends. */
export function spendingInputs({ transactions }: Pick<ScannedBlock, 'transactions'>): number {
  return transactions.reduce((sum, { isCoinbase, inputCount }) => sum + (isCoinbase ? 0 : inputCount), 0);
}

export interface SpentOutpoint {
  readonly txid: Buffer;
  readonly index: number;
  /** The position in the block of the transaction that spends it. */
  readonly spender: number;
}

/** The outputs that a serialized block spends. @throws MalformedBytesError */
export function* spentOutpoints(bytes: Buffer): Generator<SpentOutpoint, void> {
  const reader = new ByteReader(bytes, HEADER_LENGTH);
  const count = reader.compactSize();
  for (let spender = 0; spender < count; spender++) {
    const { isCoinbase, inputs } = readTransaction(reader);
    if (!isCoinbase) for (const { txid, index } of inputs) yield { txid, index, spender };
  }
}

/** Where each transaction of a block begins; last, where the block ends. @throws MalformedBytesError */
export function transactionOffsets(bytes: Buffer): Uint32Array {
  const reader = new ByteReader(bytes, HEADER_LENGTH);
  const count = reader.compactSize();
  const offsets = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) offsets[i] = readTransaction(reader).offset;
  offsets[count] = reader.offset;
  return offsets;
}

/** Transactions between two yields. */
const STEP = 64;

/** How many outputs each transaction of a block spends; the coinbase spends none. Yields now and then. @throws MalformedBytesError */
export function* spentCounts(bytes: Buffer): Generator<void, Uint32Array> {
  const reader = new ByteReader(bytes, HEADER_LENGTH);
  const counts = new Uint32Array(reader.compactSize());
  for (let i = 0; i < counts.length; i++) {
    const { inputCount } = readTransaction(reader);
    if (i > 0) counts[i] = inputCount;
    if (i % STEP === STEP - 1) yield;
  }
  return counts;
}

/** The txids of a block's transactions, concatenated. Yields now and then. @throws MalformedBytesError */
export function* txidsIn(bytes: Buffer): Generator<void, Buffer> {
  const reader = new ByteReader(bytes, HEADER_LENGTH);
  const count = reader.compactSize();
  // Bytes that end before this many transactions are refused below.
  const txids = Buffer.allocUnsafe(Math.min(count, Math.floor(reader.remaining / SHORTEST_TRANSACTION)) * TXID_LENGTH);
  for (let i = 0; i < count; i++) {
    readTransaction(reader).writeTxid(txids, i * TXID_LENGTH);
    if (i % STEP === STEP - 1) yield;
  }
  return txids;
}

/** The serialization without witnesses; `raw` itself when it has none. @throws MalformedBytesError */
export function blockWithoutWitness(raw: Buffer): Buffer {
  const { transactions, strippedLength, length } = scanBlock(raw);
  const [first] = transactions;
  if (first === undefined || strippedLength === length) return raw;
  const stripped = Buffer.allocUnsafe(strippedLength);
  let end = raw.copy(stripped, 0, 0, first.offset);
  for (const transaction of transactions) {
    transaction.writeStripped(stripped, end);
    end += transaction.strippedLength;
  }
  return stripped;
}

/**
 * A serialized block as Bitcoin Core would write it; `stored` itself when it already has that form. bcoin also accepts blocks in
 * which transactions without a witness carry marker, flag and empty stacks (BIP144), under the same block hash and txids, and stores
 * their bytes as received. Nothing else in a block can be written in two ways: the hashes cover the rest, and bcoin, like Bitcoin
 * Core, accepts compact sizes only in their shortest form, and no flag but 1.
 * @throws MalformedBytesError for bytes that are not one block and nothing else.
 */
export function canonicalBlock(stored: Buffer): Buffer {
  const reader = new ByteReader(stored, HEADER_LENGTH);
  const parts: Buffer[] = [];
  let copiedTo = 0;
  for (let left = reader.compactSize(); left > 0; left--) {
    const transaction = new ScannedTransaction(reader);
    if (!transaction.hasSuperfluousWitness) continue;
    const markerOffset = transaction.offset + VERSION_LENGTH;
    parts.push(stored.subarray(copiedTo, markerOffset), stored.subarray(markerOffset + MARKER_AND_FLAG_LENGTH, transaction.witnessOffset));
    copiedTo = reader.offset - LOCKTIME_LENGTH;
  }
  reader.requireEnd('block');
  return parts.length === 0 ? stored : Buffer.concat([...parts, stored.subarray(copiedTo)]);
}
