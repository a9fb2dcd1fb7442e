// What a block adds to the index and removes from it: a pure function from the bytes of the block to
// flat arrays, which can be made in another thread and handed over.

import { scanBlock } from '../../bitcoin/block';
import { ScriptHashes } from '../../bitcoin/block-filter';
import { ByteReader } from '../../bitcoin/reader';
import { isUnspendable } from '../../bitcoin/script';
import { IndexError } from '../../follow/errors';
import { HEAD_BYTES, HEIGHT, OUTPOINT_WORDS, packPosition, POSITION, STATE, UNSPENT } from '../records/cache-entry';
import { GROUP_SIZE, writeCoin } from '../records/coin-record';
import { MAX_TRANSACTIONS } from '../records/position';
import { TXID_HASH_LENGTH, type TxidHasher } from '../records/txid-hash';
import { LONGEST_INTEGER, writeInteger } from '../records/numbers';
import type { ScannedTransaction } from '../../bitcoin/transaction';

export interface BlockRows {
  readonly height: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 80 bytes. */
  readonly header: Uint8Array;
  /** Length of the serialized block. */
  readonly length: number;
  /** Txid of the coinbase, 32 bytes. */
  readonly coinbase: Uint8Array;
  /** For each transaction, the hash of its txid. */
  readonly hashes: Uint8Array;
  /** Lengths of the transactions, as integers of variable length (records/lengths.ts). */
  readonly lengths: Uint8Array;
  /** Outpoints that the block spends, nine words each, in its order; the coinbase has none. */
  readonly inputs: Int32Array;
  /** For each transaction, where its inputs end in `inputs`, as a number of outpoints. */
  readonly inputEnds: Uint32Array;
  /**
   * Cache entries (records/cache-entry.ts) of all coins that the block makes. The first is always one of the coinbase, even if
   * the coinbase makes no coins.
   */
  readonly entries: Int32Array;
  /** Number of coins that the block makes. */
  readonly coins: number;
  /** For the filter of the block, the hashes of its outputs' scripts (block-filter.ts); empty when no filter is made. */
  readonly scriptHashes: Uint32Array;
}

/** Returns memory of `length` bytes, aligned to words; its content is arbitrary. */
export type Allocate = (length: number) => Uint8Array;

export interface RowOptions {
  /** Whether to hash scripts for the filter; false unless given. */
  readonly forFilter?: boolean;
  /** The block's txids, concatenated, if they are known. */
  readonly txids?: Uint8Array | undefined;
  /** Allocates the rows' memory. */
  readonly allocate?: Allocate;
}

const allocateAnew: Allocate = (length) => new Uint8Array(length);

const ENTRIES_MARGIN = 4096;

/** An upper bound of the bytes that the rows of a block of `length` bytes take; most are for the entries. */
export function mostRowBytes(length: number): number {
  return length * 6 + 2 * ENTRIES_MARGIN;
}

const NO_SCRIPTS = new Uint32Array(0);

/** For a block without transactions, which occurs in no chain. */
const NO_TXID = Buffer.alloc(32);

/**
 * The rows of a serialized block. `hasher`: the hasher of the index.
 * @throws MalformedBytesError, IndexError for more transactions than a key can count.
 */
export function blockRows(
  raw: Buffer,
  height: number,
  hasher: TxidHasher,
  { forFilter = false, txids, allocate = allocateAnew }: RowOptions = {}
): BlockRows {
  const known = txids && Buffer.from(txids.buffer, txids.byteOffset, txids.length);
  const { hash, header, length, transactions } = scanBlock(raw, known);
  const { length: count } = transactions;
  if (count > MAX_TRANSACTIONS) throw new IndexError(`expected at most ${MAX_TRANSACTIONS} transactions in a block, got ${count}`);
  const inputEnds = wordsOf(allocate(count * 4), Uint32Array);
  let inputCount = 0;
  for (const [index, transaction] of transactions.entries())
    inputEnds[index] = inputCount += transaction.isCoinbase ? 0 : transaction.inputCount;
  const [hashes, lengths, inputs] = [
    allocate(count * TXID_HASH_LENGTH),
    allocate(count * LONGEST_INTEGER),
    allocate(inputCount * OUTPOINT_WORDS * 4)
  ];
  const hashBytes = Buffer.from(hashes.buffer, hashes.byteOffset, hashes.length);
  let [inputsEnd, lengthsEnd] = [0, 0];
  for (const [index, transaction] of transactions.entries()) {
    hasher.writeHash(transaction.txid, hashBytes, index * TXID_HASH_LENGTH);
    lengthsEnd = writeInteger(lengths, lengthsEnd, transaction.length);
    if (!transaction.isCoinbase) inputsEnd = copyOutpoints(transaction, inputs, inputsEnd);
  }
  return {
    height,
    // Copies: small Buffers are views of a pool, which would be sent to another thread with them.
    hash: Uint8Array.from(hash),
    header: Uint8Array.from(header),
    length,
    coinbase: Uint8Array.from(transactions[0]?.txid ?? NO_TXID),
    hashes,
    lengths: lengths.subarray(0, lengthsEnd),
    inputs: wordsOf(inputs, Int32Array),
    inputEnds,
    // No coin is more than twice as long as its output.
    ...coinEntries(transactions, height, allocate(raw.length * 2 + ENTRIES_MARGIN)),
    scriptHashes: forFilter ? scriptHashesOf(hash, transactions, allocate) : NO_SCRIPTS
  };
}

function scriptHashesOf(hash: Buffer, transactions: readonly ScannedTransaction[], allocate: Allocate): Uint32Array {
  let count = 0;
  for (const { bytes, outputsOffset } of transactions) count += new ByteReader(bytes, outputsOffset).compactSize();
  const hashes = new ScriptHashes(hash, wordsOf(allocate(count * 8), Uint32Array));
  for (const { bytes, outputsOffset } of transactions) {
    const reader = new ByteReader(bytes, outputsOffset);
    for (let left = reader.compactSize(); left > 0; left--) {
      reader.skip(8);
      const length = reader.compactSize();
      const start = reader.skip(length);
      hashes.addOutput(bytes, start, start + length);
    }
  }
  return hashes.words;
}

/** A view of the same memory as words. */
function wordsOf<T>(bytes: Uint8Array, Words: new (buffer: ArrayBufferLike, offset: number, length: number) => T): T {
  return new Words(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
}

/** Copies the outpoints of a transaction, and returns where the copies end. */
function copyOutpoints({ bytes, inputsOffset, inputCount }: ScannedTransaction, to: Uint8Array, start: number): number {
  const reader = new ByteReader(bytes, inputsOffset);
  let at = start;
  for (let left = inputCount; left > 0; left--) {
    at += bytes.copy(to, at, reader.offset, reader.offset + OUTPOINT_WORDS * 4);
    reader.skip(OUTPOINT_WORDS * 4);
    reader.skip(reader.compactSize() + 4);
  }
  return at;
}

/** The cache entries of the coins that the transactions of a block make. The output of the genesis coinbase was never a coin. */
function coinEntries(
  transactions: readonly ScannedTransaction[],
  height: number,
  memory: Uint8Array
): Pick<BlockRows, 'entries' | 'coins'> {
  const bytes = Buffer.from(memory.buffer, memory.byteOffset, memory.length);
  const words = wordsOf(memory, Int32Array);
  let coins = 0;
  let next = 0; // in words
  for (const [index, { bytes: raw, outputsOffset, txid }] of transactions.entries()) {
    const reader = new ByteReader(raw, outputsOffset);
    const count = reader.compactSize();
    for (let first = 0; first < count || first === 0; first += GROUP_SIZE) {
      const start = next * 4 + HEAD_BYTES;
      let end = start;
      let unspent = 0;
      for (let slot = 0; slot < GROUP_SIZE && first + slot < count; slot++) {
        const value = reader.u64();
        const length = reader.compactSize();
        if (height > 0 && !isUnspendable(raw, reader.offset, reader.offset + length)) {
          end = writeCoin(bytes, end, slot, value, raw, reader.offset, length);
          unspent |= 1 << slot;
          coins++;
        }
        reader.skip(length);
      }
      if (unspent === 0 && (index > 0 || first > 0)) continue;
      bytes.set(txid, next * 4);
      words[next + HEIGHT] = height;
      words[next + POSITION] = packPosition(index, first / GROUP_SIZE);
      words[next + UNSPENT] = unspent;
      words[next + STATE] = (end - start) << 3;
      next = (end + 3) >> 2;
      // Clears the padding, where an earlier block may have left bytes: the same block must always have the same rows.
      bytes.fill(0, end, next * 4);
    }
  }
  return { entries: words.subarray(0, next), coins };
}
