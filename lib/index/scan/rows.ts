// What a block adds to the index and takes from it, without looking at the index: a plain
// function from bytes to flat arrays, which can be made in another thread and handed over.

import { scanBlock, type ScannedBlock } from '../../bitcoin/block';
import { ByteReader } from '../../bitcoin/reader';
import { MAX_SCRIPT_LENGTH, OP_RETURN } from '../../bitcoin/script';
import { entryWords, HEAD_BYTES, HEAD_WORDS, HEIGHT, OUTPOINT_WORDS, PLACE, packPosition, STATE, UNSPENT } from '../records/cache-entry';
import { GROUP_SIZE, writeCoin } from '../records/coin-record';
import { IndexError } from '../errors';
import { MAX_TRANSACTIONS, TXID_HASH_LENGTH } from '../records/layout';
import { LONGEST_INTEGER, writeInteger } from '../records/variable-integer';
import type { ScannedTransaction } from '../../bitcoin/transaction';
import type { TxidHasher } from '../records/txid-hash';

export interface BlockRows {
  readonly height: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 80 bytes. */
  readonly header: Uint8Array;
  /** Of the serialized block. */
  readonly length: number;
  /** Txid of the coinbase, 32 bytes. */
  readonly coinbase: Uint8Array;
  /** For each transaction, the hash of its txid. */
  readonly hashes: Uint8Array;
  /** Lengths of the transactions: a record of the layout. */
  readonly lengths: Uint8Array;
  /** Outpoints that the block spends, nine words each, in its order; the coinbase has none. */
  readonly inputs: Int32Array;
  /** For each transaction, the number of inputs up to and with its last. */
  readonly inputEnds: Uint32Array;
  /** Cache entries of all coins that the block makes. The coinbase has one in any case. */
  readonly entries: Int32Array;
  /** How many coins these are. */
  readonly coins: number;
}

/** Gives room for so many bytes, beginning at a word; what was in it does not matter. */
export type Allocate = (length: number) => Uint8Array;

const allocateAnew: Allocate = (length) => new Uint8Array(length);

/** All rows of a block of `length` bytes take less: most of it is room for the entries. */
export function mostRowBytes(length: number): number {
  return length * 5 + 2 * ENTRIES_MARGIN;
}

/**
 * The rows of a serialized block for the index that `hasher` is of, in room that `allocate` gives.
 * The output of the genesis coinbase was never a coin.
 * @throws MalformedBytesError, IndexError for more transactions than a key can count.
 */
export function blockRows(raw: Buffer, height: number, hasher: TxidHasher, allocate = allocateAnew): BlockRows {
  const block = scanBlock(raw);
  const { transactions } = block;
  if (transactions.length > MAX_TRANSACTIONS)
    throw new IndexError(`expected at most ${MAX_TRANSACTIONS} transactions in a block, got ${transactions.length}`);
  return {
    height,
    hash: copyOf(block.hash, allocate),
    header: copyOf(block.header, allocate),
    length: block.length,
    coinbase: copyOf(transactions[0]?.txid ?? NO_TXID, allocate),
    hashes: hashesOf(transactions, hasher, allocate),
    lengths: lengthsOf(transactions, allocate),
    ...inputsOf(block, raw, allocate),
    ...entriesOf(transactions, raw, height, allocate)
  };
}

/** Of a block without transactions, which no chain has. */
const NO_TXID = Buffer.alloc(32);

function hashesOf(transactions: readonly ScannedTransaction[], hasher: TxidHasher, allocate: Allocate): Uint8Array {
  const hashes = allocate(transactions.length * TXID_HASH_LENGTH);
  const bytes = Buffer.from(hashes.buffer, hashes.byteOffset, hashes.length);
  transactions.forEach(({ txid }, position) => { hasher.writeHash(txid, bytes, position * TXID_HASH_LENGTH); });
  return hashes;
}

function copyOf(bytes: Buffer, allocate: Allocate): Uint8Array {
  const copy = allocate(bytes.length);
  copy.set(bytes);
  return copy;
}

function lengthsOf(transactions: readonly ScannedTransaction[], allocate: Allocate): Uint8Array {
  const lengths = allocate(transactions.length * LONGEST_INTEGER);
  let at = 0;
  for (const { length } of transactions) at = writeInteger(lengths, at, length);
  return lengths.subarray(0, at);
}

function inputsOf({ transactions }: ScannedBlock, raw: Buffer, allocate: Allocate): { inputs: Int32Array; inputEnds: Uint32Array } {
  const ends = allocate(transactions.length * 4);
  const inputEnds = new Uint32Array(ends.buffer, ends.byteOffset, transactions.length);
  let count = 0;
  transactions.forEach((transaction, position) => {
    if (!transaction.isCoinbase) count += transaction.inputCount;
    inputEnds[position] = count;
  });
  const bytes = allocate(count * OUTPOINT_WORDS * 4);
  let at = 0;
  for (const transaction of transactions) {
    if (transaction.isCoinbase) continue;
    const reader = new ByteReader(raw, transaction.inputsOffset);
    for (let left = transaction.inputCount; left > 0; left--) {
      raw.copy(bytes, at, reader.offset, reader.offset + 36);
      at += 36;
      reader.skip(36);
      reader.skip(reader.compactSize() + 4);
    }
  }
  return { inputs: new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2), inputEnds };
}

const ENTRIES_MARGIN = 4096;

function entriesOf(transactions: readonly ScannedTransaction[], raw: Buffer, height: number, allocate: Allocate): { entries: Int32Array; coins: number } {
  // No coin is longer than its output by more than the output's own length.
  const room = allocate(raw.length * 2 + ENTRIES_MARGIN);
  const bytes = Buffer.from(room.buffer, room.byteOffset, room.length);
  const words = new Int32Array(room.buffer, room.byteOffset, room.length >> 2);
  let at = 0;
  transactions.forEach((transaction, position) => {
    at = addEntries({ bytes, words }, at, transaction, raw, height, position);
  });
  let coins = 0;
  for (let entry = 0; entry < at; entry += entryWords(words[entry + STATE] as number)) coins += bitCount(words[entry + UNSPENT] as number); // entries are whole
  return { entries: words.subarray(0, at), coins };
}

function bitCount(word: number): number {
  const pairs = word - (word >>> 1 & 0x55555555);
  const fours = (pairs & 0x33333333) + (pairs >>> 2 & 0x33333333);
  return Math.imul(fours + (fours >>> 4) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The same memory twice. */
interface EntryRoom {
  readonly bytes: Buffer;
  readonly words: Int32Array;
}

/** Writes the entries of a transaction and returns the word behind them. */
function addEntries({ bytes, words }: EntryRoom, start: number, transaction: ScannedTransaction, raw: Buffer, height: number, position: number): number {
  const reader = new ByteReader(raw, transaction.outputsOffset);
  const count = reader.compactSize();
  let at = start;
  for (let first = 0; first < count || first === 0; first += GROUP_SIZE) {
    const bytesAt = at * 4 + HEAD_BYTES;
    let end = bytesAt;
    let unspent = 0;
    for (let slot = 0; slot < GROUP_SIZE && first + slot < count; slot++) {
      const value = reader.u64();
      const length = reader.compactSize();
      if (height > 0 && length <= MAX_SCRIPT_LENGTH && (length === 0 || raw[reader.offset] !== OP_RETURN)) {
        end = writeCoin(bytes, end, slot, value, raw, reader.offset, length);
        unspent |= 1 << slot;
      }
      reader.skip(length);
    }
    if (unspent === 0 && (position > 0 || first > 0)) continue;
    bytes.set(transaction.txid, at * 4);
    words[at + HEIGHT] = height;
    words[at + PLACE] = packPosition(position, first / GROUP_SIZE);
    words[at + UNSPENT] = unspent;
    words[at + STATE] = end - bytesAt << 3;
    at += HEAD_WORDS + (end - bytesAt + 3 >> 2);
    // What an earlier block left there: the same block has the same rows.
    while (end < at * 4) bytes[end++] = 0;
  }
  return at;
}
