// What undoes a block without the block itself, which the node may no longer have. Sizes in bytes, integers of variable length
// (lib/index/records/numbers.ts):
//
//   'd' height 4    block hash 32, hash of the block before 32, number of txids on the last page before the block (block-txids.ts), these
//                   txids, 32 each, number of transactions, and for each one
//
//   number of its rows, and the hash of the script of each 10
//
// Whole hashes give the keys of the rows. With parts of hashes the rows would have to be searched, perhaps in long histories. The txids are
// those that the last page has again when the block is undone.

import { TXID_LENGTH } from '../../bitcoin/transaction';
import { RecordReader, LONGEST_INTEGER, writeInteger } from '../../index/records/numbers';
import { damaged, keyOfHeight, recordOf } from '../../index/records/layout';
import { rowKey } from './row';
import { SCRIPT_HASH_LENGTH } from './script-hasher';

export const undoKey = keyOfHeight('d');

export interface UndoRecord {
  /** The block that this undoes. */
  readonly hash: Buffer;
  readonly previousHash: Buffer;
  /** The txids of the last page before the block, concatenated. */
  readonly lastPage: Buffer;
  /** The keys of the block's rows, in its order. Can be iterated over once. @throws DamagedIndexError */
  readonly rowKeys: Iterable<Buffer>;
}

/** `lastPage`: as in UndoRecord. `indexes`: for each row, the index of its transaction, ascending; `hashes`: for each row, the hash of its script. */
export function encodeUndo(
  hash: Buffer,
  previousHash: Buffer,
  lastPage: Buffer,
  transactions: number,
  indexes: ArrayLike<number>,
  hashes: Uint8Array
): Buffer {
  const bytes = Buffer.allocUnsafe(64 + lastPage.length + (transactions + 2) * LONGEST_INTEGER + hashes.length);
  let at = hash.copy(bytes);
  at += previousHash.copy(bytes, at);
  at = writeInteger(bytes, at, lastPage.length / TXID_LENGTH);
  at += lastPage.copy(bytes, at);
  at = writeInteger(bytes, at, transactions);
  for (let index = 0, row = 0; index < transactions; index++) {
    const first = row;
    while (row < indexes.length && indexes[row] === index) row++;
    at = writeInteger(bytes, at, row - first);
    bytes.set(hashes.subarray(first * SCRIPT_HASH_LENGTH, row * SCRIPT_HASH_LENGTH), at);
    at += (row - first) * SCRIPT_HASH_LENGTH;
  }
  return bytes.subarray(0, at);
}

/** The record of the block at a height. @throws DamagedIndexError */
export function decodeUndo(key: Buffer, value: Buffer, height: number): UndoRecord {
  const reader = new RecordReader(recordOf(key, value));
  const hash = reader.take(32);
  const previousHash = reader.take(32);
  const lastPage = reader.take(reader.integer() * TXID_LENGTH);
  const transactions = reader.integer();
  return { hash, previousHash, lastPage, rowKeys: rowKeysIn(reader, key, height, transactions) };
}

function* rowKeysIn(reader: RecordReader, key: Buffer, height: number, transactions: number): Generator<Buffer, void> {
  for (let index = 0; index < transactions; index++)
    for (let left = reader.integer(); left > 0; left--) yield rowKey(reader.take(SCRIPT_HASH_LENGTH), { height, index });
  if (!reader.atEnd) throw damaged(key, 'the end of the record', `${reader.bytes.length - reader.offset} more bytes`);
}
